// Base fees and the price of blobs follow the rules of the main network, and what @ethereumjs/block makes of them.
import { type BlockHeader, createBlockHeader } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blobBaseFee,
  effectiveGasPrice,
  effectiveTip,
  maxBlobGas,
  maxRefund,
  nextBaseFee,
  nextExcessBlobGas,
} from '../../../src/protocol/fees.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'

const seeded = { seed: 20261121, numRuns: 200 }

const commonOf = (fork: Hardfork): Common => new Common({ chain: Mainnet, hardfork: fork as never })

/** A header of theirs with only what fees depend on. */
function headerOf(fork: Hardfork, fields: Readonly<Record<string, bigint>>): BlockHeader {
  const options = { common: commonOf(fork), skipConsensusFormatValidation: true }
  return createBlockHeader({ number: 20_000_000n, ...fields }, options)
}

describe('the base fee', () => {
  test.each([
    ['half full', 1_000n, 15n, 1_000n],
    ['full', 1_000n, 30n, 1_125n],
    ['empty', 1_000n, 0n, 875n],
    ['full at 0', 0n, 30n, 1n],
    ['half full at 0', 0n, 15n, 0n],
    ['empty at 0', 0n, 0n, 0n],
    ['empty at 7, whose eighth is below 1', 7n, 0n, 7n],
  ])('is right after a block that is %s', (_, baseFee, gasUsed, expected) => {
    expect(nextBaseFee({ baseFee, gasUsed, gasLimit: 30n })).toBe(expected)
  })

  test('stays constant where no block can hold gas', () => {
    expect(nextBaseFee({ baseFee: 5n, gasUsed: 0n, gasLimit: 1n })).toBe(5n)
  })

  test('equals that of @ethereumjs/block after any parent', () => {
    const parent = fc.record({
      baseFee: fc.bigInt(0n, 2n ** 80n),
      gasUsed: fc.bigInt(0n, 60_000_000n),
      gasLimit: fc.bigInt(5_000n, 60_000_000n),
    })
    fc.assert(
      fc.property(parent, ({ baseFee, gasUsed, gasLimit }) => {
        const used = gasUsed % (gasLimit + 1n)
        const theirs = headerOf('london', { baseFeePerGas: baseFee, gasUsed: used, gasLimit })
        expect(nextBaseFee({ baseFee, gasUsed: used, gasLimit })).toBe(theirs.calcNextBaseFee())
      }),
      seeded,
    )
  })

  test('changes by an eighth at most', () => {
    fc.assert(
      fc.property(fc.bigInt(8n, 2n ** 80n), fc.bigInt(0n, 30_000_000n), (baseFee, gasUsed) => {
        const next = nextBaseFee({ baseFee, gasUsed, gasLimit: 30_000_000n })
        const change = next > baseFee ? next - baseFee : baseFee - next
        expect(change <= baseFee / 8n).toBe(true)
      }),
      seeded,
    )
  })
})

describe('effectiveGasPrice', () => {
  // [maximum, tip, base fee, price, what the miner gets]
  test.each([
    [100n, 10n, 50n, 60n, 10n],
    [100n, 10n, 90n, 100n, 10n],
    [100n, 10n, 95n, 100n, 5n],
    [100n, 10n, 100n, 100n, 0n],
    [100n, 10n, 101n, 100n, -1n],
    [7n, 7n, 0n, 7n, 7n],
  ])(
    'of maximum %d, tip %d and base fee %d is %d, of which %d is the tip',
    (maximum, tip, base, price, paid) => {
      const transaction = { maxFeePerGas: maximum, maxPriorityFeePerGas: tip }
      expect(effectiveGasPrice(transaction, base)).toBe(price)
      expect(effectiveTip(transaction, base)).toBe(paid)
    },
  )

  test('is paid back for at most half of the gas, from london on for a fifth', () => {
    expect(maxRefund(100_001n, 'berlin')).toBe(50_000n)
    expect(maxRefund(100_001n, 'london')).toBe(20_000n)
  })
})

describe('blob gas', () => {
  const BLOB = 131_072n

  // the first two from EIP-4844's reference implementation: fake_exponential
  test.each([
    [0n, 'cancun', 1n],
    [10n * BLOB, 'cancun', 1n],
    [3_338_477n * 10n, 'cancun', 22_026n],
    [5_007_716n * 10n, 'prague', 22_026n],
    [8_346_193n * 10n, 'bpo1', 22_026n],
    [11_684_671n * 10n, 'bpo2', 22_026n],
  ] as const)('of excess %d under %s costs %d', (excess, fork, fee) => {
    expect(blobBaseFee(excess, fork)).toBe(fee)
  })

  // [fork, blobs at most]: EIP-4844, EIP-7691, EIP-7892
  test.each([
    ['cancun', 6n],
    ['prague', 9n],
    ['osaka', 9n],
    ['bpo1', 15n],
    ['bpo2', 21n],
  ] as const)('of a block under %s is enough for %d blobs at most', (fork, blobs) => {
    expect(maxBlobGas(fork)).toBe(blobs * BLOB)
  })

  test('in excess falls by the target, and not below zero', () => {
    const parent = { excessBlobGas: 0n, blobGasUsed: 0n, baseFeePerGas: 0n }
    expect(nextExcessBlobGas(parent, 'cancun')).toBe(0n)
    const busy = { excessBlobGas: BLOB, blobGasUsed: 6n * BLOB, baseFeePerGas: 0n }
    expect(nextExcessBlobGas(busy, 'cancun')).toBe(4n * BLOB)
  })

  test('in excess stops falling from osaka on where blobs are cheaper than their gas', () => {
    const parent = { excessBlobGas: 9n * BLOB, blobGasUsed: 6n * BLOB, baseFeePerGas: 10n ** 9n }
    expect(nextExcessBlobGas(parent, 'prague')).toBe(9n * BLOB)
    expect(nextExcessBlobGas(parent, 'osaka')).toBe(9n * BLOB + 2n * BLOB)
  })

  const forks = HARDFORKS.filter((fork) => isAtLeast(fork, 'cancun'))

  test.each(forks)('has the price and excess under %s that @ethereumjs/block computes', (fork) => {
    const parent = fc.record({
      excessBlobGas: fc.bigInt(0n, 200_000_000n),
      blobs: fc.bigInt(0n, maxBlobGas(fork) / BLOB),
      baseFee: fc.oneof(fc.bigInt(0n, 100n), fc.bigInt(0n, 10n ** 12n)),
    })
    fc.assert(
      fc.property(parent, ({ excessBlobGas, blobs, baseFee }) => {
        const blobGasUsed = blobs * BLOB
        const theirs = headerOf(fork, { excessBlobGas, blobGasUsed, baseFeePerGas: baseFee })
        expect(blobBaseFee(excessBlobGas, fork)).toBe(theirs.getBlobGasPrice())
        expect(
          nextExcessBlobGas({ excessBlobGas, blobGasUsed, baseFeePerGas: baseFee }, fork),
        ).toBe(theirs.calcNextExcessBlobGas(theirs.common))
      }),
      seeded,
    )
  })
})
