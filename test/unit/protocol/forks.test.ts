// Hardforks by name and by place in a genesis file's schedule; the fees that follow from them.
import { describe, expect, test } from 'vitest'
import {
  blobBaseFee,
  effectiveGasPrice,
  nextBaseFee,
  nextExcessBlobGas,
} from '../../../src/protocol/fees.ts'
import {
  alwaysFork,
  hardforkAt,
  isAtLeast,
  NEWEST_HARDFORK,
  parseHardfork,
  scheduleFromGenesisConfig,
} from '../../../src/protocol/forks.ts'

describe('names', () => {
  test.each([
    ['London', 'london'],
    ['tangerinewhistle', 'tangerineWhistle'],
    ['merge', 'paris'],
    ['latest', NEWEST_HARDFORK],
  ])('%s is read as %s', (text, fork) => {
    expect(parseHardfork(text)).toBe(fork)
  })

  test('a misspelt name is refused with the nearest', () => {
    expect(() => parseHardfork('shangai')).toThrow(
      'unknown hardfork "shangai": did you mean shanghai?',
    )
    expect(() => parseHardfork('xxxxxxxxxxxxxx')).toThrow(/expected one of frontier, homestead/)
  })

  test('a fork includes itself and those before it', () => {
    expect(isAtLeast('london', 'london')).toBe(true)
    expect(isAtLeast('london', 'berlin')).toBe(true)
    expect(isAtLeast('berlin', 'london')).toBe(false)
  })
})

describe('schedules', () => {
  test('one fork may rule always', () => {
    expect(hardforkAt(alwaysFork('berlin'), 0n, 0n)).toBe('berlin')
  })

  test('forks begin by block, then by time; a merge from the start comes with london', () => {
    const schedule = scheduleFromGenesisConfig({
      chainId: 1,
      homesteadBlock: 0,
      byzantiumBlock: '0x5',
      londonBlock: 10,
      terminalTotalDifficulty: 0,
      shanghaiTime: 1_000,
      osakaTime: '2000',
    })
    const at = (number: bigint, time: bigint): string => hardforkAt(schedule, number, time)
    expect([at(0n, 0n), at(5n, 999n), at(10n, 999n), at(10n, 1_000n), at(99n, 2_000n)]).toEqual([
      'homestead',
      'byzantium',
      'paris',
      'shanghai',
      'osaka',
    ])
  })

  test('without a merge the proof-of-work forks rule', () => {
    const schedule = scheduleFromGenesisConfig({ homesteadBlock: 2, byzantiumBlock: 4 })
    expect([0n, 2n, 3n, 4n].map((number) => hardforkAt(schedule, number, 0n))).toEqual([
      'frontier',
      'homestead',
      'homestead',
      'byzantium',
    ])
  })

  test.each([
    [{ londonBlock: 'soon' }, /config\.londonBlock: expected a block number or time, got "soon"/],
    [{ londonBlock: -1 }, /config\.londonBlock/],
    [{ berlinBlock: 9, londonBlock: 8 }, /london begins at 8, before berlin at 9/],
  ])('%j is refused', (config, message) => {
    expect(() => scheduleFromGenesisConfig(config)).toThrow(message)
  })
})

describe('fees', () => {
  test.each([
    ['half full', 1_000n, 15n, 1_000n],
    ['full', 1_000n, 30n, 1_125n],
    ['empty', 1_000n, 0n, 875n],
    ['full at 0', 0n, 30n, 1n],
    ['empty at 0', 0n, 0n, 0n],
  ])('the base fee after a block that is %s', (_, baseFee, gasUsed, expected) => {
    expect(nextBaseFee({ baseFee, gasUsed, gasLimit: 30n })).toBe(expected)
  })

  test('a sender pays base fee and tip, but never more than the maximum', () => {
    const price = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
    expect(effectiveGasPrice(price, 50n)).toBe(60n)
    expect(effectiveGasPrice(price, 95n)).toBe(100n)
  })

  // the first two from EIP-4844's reference implementation: fake_exponential
  test.each([
    [0n, 'cancun', 1n],
    [10n * 131_072n, 'cancun', 1n],
    [3_338_477n * 10n, 'cancun', 22_026n],
    [5_007_716n * 10n, 'prague', 22_026n],
    [11_684_671n * 10n, 'bpo2', 22_026n],
  ] as const)('%d of excess blob gas under %s costs %d', (excess, fork, fee) => {
    expect(blobBaseFee(excess, fork)).toBe(fee)
  })

  test('excess blob gas falls by the target, and not below zero', () => {
    const parent = { excessBlobGas: 0n, blobGasUsed: 0n, baseFee: 0n }
    expect(nextExcessBlobGas(parent, 'cancun')).toBe(0n)
    const busy = { excessBlobGas: 131_072n, blobGasUsed: 6n * 131_072n, baseFee: 0n }
    expect(nextExcessBlobGas(busy, 'cancun')).toBe(4n * 131_072n)
  })
})
