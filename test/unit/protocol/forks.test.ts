// Hardforks by name and by place in a genesis file's schedule.
import { describe, expect, test } from 'vitest'
import {
  alwaysFork,
  DEFAULT_HARDFORK,
  hardforkAt,
  isAtLeast,
  parseHardfork,
  scheduleFromGenesisConfig,
} from '../../../src/protocol/forks.ts'

describe('parseHardfork', () => {
  test.each([
    ['London', 'london'],
    ['tangerinewhistle', 'tangerineWhistle'],
    ['merge', 'paris'],
    ['latest', DEFAULT_HARDFORK],
  ])('reads %s as %s', (text, fork) => {
    expect(parseHardfork(text)).toBe(fork)
  })

  test('refuses a misspelt name and suggests the nearest', () => {
    expect(() => parseHardfork('shangai')).toThrow(
      'unknown hardfork "shangai": did you mean shanghai?',
    )
    expect(() => parseHardfork('xxxxxxxxxxxxxx')).toThrow(/expected one of frontier, homestead/)
  })

  test.each(['constructor', '__proto__', 'toString', ''])(
    'refuses "%s", which is no hardfork',
    (text) => {
      expect(() => parseHardfork(text)).toThrow(/^unknown hardfork/)
    },
  )

  test('returns a fork that isAtLeast itself and those before it', () => {
    expect(isAtLeast('london', 'london')).toBe(true)
    expect(isAtLeast('london', 'berlin')).toBe(true)
    expect(isAtLeast('berlin', 'london')).toBe(false)
  })
})

describe('a fork schedule', () => {
  test('may have one fork for all blocks', () => {
    expect(hardforkAt(alwaysFork('berlin'), 0n, 0n)).toBe('berlin')
  })

  test('begins forks by block, then by time; a merge from the start includes london', () => {
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

  test('without a merge has the proof-of-work forks', () => {
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
    [{ londonBlock: 1.5 }, /config\.londonBlock/],
    [{ shanghaiTime: [1] }, /config\.shanghaiTime/],
    [{ berlinBlock: 9, londonBlock: 8 }, /london begins at 8, before berlin at 9/],
    [{ cancunTime: 9, osakaTime: '0x8' }, /osaka begins at 8, before cancun at 9/],
  ])('is refused for %j', (config, message) => {
    expect(() => scheduleFromGenesisConfig(config)).toThrow(message)
  })
})
