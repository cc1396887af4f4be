// What the node says gas costs.
import { describe, expect, test } from 'vitest'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState, Settings } from '../../../../src/node/ledger/chainstate.ts'
import {
  type FeeHistory,
  feeHistory,
  gasPrice,
  maxPriorityFeePerGas,
} from '../../../../src/node/sending/gasoracle.ts'
import { GAS_PER_BLOB } from '../../../../src/protocol/fees.ts'
import { countTurns, slowClock } from '../../../support/waiting/turns.ts'
import { type BlockSketch, recordOf, type Sketch, stateOf, treeOf } from '../records.ts'

const gwei = 10n ** 9n

/** A block with a base fee, half full, so that the market keeps the fee. */
function halfFull(baseFeePerGas: bigint, ...transactions: Sketch[]): BlockSketch {
  return { transactions, header: { baseFeePerGas, gasUsed: 15_000_000n } }
}

function chainWith(settings: Partial<Settings>, ...blocks: readonly BlockSketch[]): ChainState {
  return stateOf(treeOf(...blocks), settings)
}

const market = { pinnedBaseFee: false }

describe('eth_gasPrice', () => {
  test.each<{ name: string; state: ChainState; price: bigint; tip: bigint }>([
    { name: 'is 0 by default', state: chainWith({}), price: 0n, tip: 0n },
    {
      name: 'stays 0 whatever others pay',
      state: chainWith({}, halfFull(0n, { price: gwei })),
      price: 0n,
      tip: 0n,
    },
    {
      name: 'is the price of the settings',
      state: chainWith({ gasPrice: 5n }),
      price: 5n,
      tip: 5n,
    },
    {
      name: 'is at least what the pool wants',
      state: chainWith({ minGasPrice: 9n }),
      price: 9n,
      tip: 9n,
    },
    { name: 'is a pinned base fee', state: chainWith({}, halfFull(7n)), price: 7n, tip: 0n },
    {
      name: 'covers the base fee that was set for the next block',
      state: chainWith({ nextBaseFee: 12n }, halfFull(7n)),
      price: 12n,
      tip: 0n,
    },
    {
      name: 'is the next base fee after somebody’s full block where nobody paid a tip',
      state: chainWith(market, halfFull(gwei)),
      price: 1_125_000_000n,
      tip: 0n,
    },
    {
      name: 'is the newest base fee after an empty block, as calls on that block pay it',
      state: chainWith(market, { header: { baseFeePerGas: 800n } }),
      price: 800n,
      tip: 0n,
    },
    {
      name: 'is the newest base fee where the next one was set lower',
      state: chainWith({ nextBaseFee: 3n }, halfFull(7n)),
      price: 7n,
      tip: 0n,
    },
    {
      name: 'stays 0 at a base fee of 0, which a market does not raise by itself',
      state: chainWith(market, halfFull(0n)),
      price: 0n,
      tip: 0n,
    },
    {
      name: 'is the next base fee and the tip of the settings where that is more',
      state: chainWith({ ...market, tip: gwei }, halfFull(gwei)),
      price: 2n * gwei,
      tip: gwei,
    },
    {
      name: 'adds a tip as others paid it',
      state: chainWith(market, halfFull(gwei, { price: 3n * gwei })),
      price: 3n * gwei,
      tip: 2n * gwei,
    },
  ])('$name', ({ state, price, tip }) => {
    expect([gasPrice(state), maxPriorityFeePerGas(state)]).toEqual([price, tip])
  })

  test('takes the tip from the three cheapest of each of the last 20 blocks', () => {
    const [cheap, dear] = [halfFull(100n, { price: 101n }), { price: 900n }]
    const old = halfFull(100n, ...Array.from({ length: 3 }, () => dear))
    const crowded = halfFull(100n, { price: 102n }, { price: 102n }, { price: 102n }, dear, dear)
    const state = chainWith(market, old, ...Array.from({ length: 19 }, () => cheap), crowded)
    expect(maxPriorityFeePerGas(state)).toBe(1n)
  })

  test('is 0 before there were base fees', () => {
    const before = { baseFeePerGas: undefined }
    const state = chainWith({}, { header: before })
    const frontier: ChainState = {
      ...state,
      config: { ...state.config, hardforkAt: () => 'berlin' },
    }
    expect(gasPrice(frontier)).toBe(0n)
  })
})

describe('eth_feeHistory', () => {
  const state = chainWith(
    market,
    halfFull(1000n),
    { header: { baseFeePerGas: 1000n, gasUsed: 30_000_000n } },
    { header: { baseFeePerGas: 1125n, gasUsed: 0n } },
  )
  const newest = headOf(state.tree)

  test('has one entry per block, and one more for the next fees', async () => {
    expect(await feeHistory(state, 3n, newest)).toEqual<FeeHistory>({
      oldestBlock: 1n,
      baseFeePerGas: [1000n, 1000n, 1125n, 985n],
      gasUsedRatio: [0.5, 1, 0],
      baseFeePerBlobGas: [1n, 1n, 1n, 1n],
      blobGasUsedRatio: [0, 0, 0],
      reward: undefined,
    })
  })

  test('begins at genesis if more is requested', async () => {
    const { oldestBlock, gasUsedRatio } = await feeHistory(state, 1024n, newest)
    expect([oldestBlock, gasUsedRatio]).toEqual([0n, [0, 0.5, 1, 0]])
  })

  test('that ends in the past has the actual fees of the next block', async () => {
    const past = state.tree.canonical.at(1)!
    expect((await feeHistory(state, 1n, past)).baseFeePerGas).toEqual([1000n, 1000n])
  })

  test('of many blocks lets others have turns', async () => {
    const long = chainWith(market, ...Array.from({ length: 100 }, () => halfFull(1000n)))
    using _time = slowClock()
    using others = countTurns()
    expect((await feeHistory(long, 100n, headOf(long.tree))).gasUsedRatio).toHaveLength(100)
    expect(others.count()).toBeGreaterThan(5)
  })

  test('may end with the pending block, which has the fee that was set', async () => {
    const set = chainWith({ ...market, nextBaseFee: 4000n }, halfFull(1000n))
    const head = headOf(set.tree).block
    const pending = recordOf(2n, head.hash, halfFull(4000n))
    expect((await feeHistory(set, 2n, headOf(set.tree))).baseFeePerGas).toEqual([0n, 1000n, 4000n])
    expect((await feeHistory(set, 2n, pending)).baseFeePerGas).toEqual([1000n, 4000n, 4000n])
  })

  test('weights tips by gas, the cheapest first', async () => {
    const block = {
      transactions: [
        { price: 1050n, gasUsed: 10_000n },
        { price: 1010n, gasUsed: 50_000n },
        { price: 1020n, gasUsed: 40_000n },
      ],
      header: { baseFeePerGas: 1000n },
    }
    const rewarded = chainWith(market, {}, block)
    const percentiles = [0, 25, 50, 50.1, 90, 91, 100]
    expect((await feeHistory(rewarded, 2n, headOf(rewarded.tree), percentiles)).reward).toEqual([
      [0n, 0n, 0n, 0n, 0n, 0n, 0n],
      [10n, 10n, 10n, 20n, 20n, 50n, 50n],
    ])
  })

  test('has empty rewards without percentiles', async () => {
    expect((await feeHistory(state, 2n, newest, [])).reward).toEqual([[], []])
  })

  test('has blob fees and the ratio of blob gas used', async () => {
    const blobs = { blobGasUsed: 3n * GAS_PER_BLOB, excessBlobGas: 20_000_000n }
    const full = chainWith({}, { header: blobs })
    const { baseFeePerBlobGas, blobGasUsedRatio } = await feeHistory(full, 1n, headOf(full.tree))
    expect(blobGasUsedRatio).toEqual([3 / 9])
    expect(baseFeePerBlobGas).toEqual([54n, 50n])
  })

  test('has zeros for blobs before cancun', async () => {
    const none = { header: { blobGasUsed: undefined, excessBlobGas: undefined } }
    const before = chainWith({}, none)
    const old: ChainState = { ...before, config: { ...before.config, hardforkAt: () => 'london' } }
    const { baseFeePerBlobGas, blobGasUsedRatio } = await feeHistory(old, 1n, headOf(old.tree))
    expect([baseFeePerBlobGas, blobGasUsedRatio]).toEqual([[0n, 0n], [0]])
  })

  test.each<{ count: bigint; percentiles: number[]; message: RegExp }>([
    { count: 0n, percentiles: [], message: /block count: expected 1 to 1024, got 0/ },
    { count: 1025n, percentiles: [], message: /block count: expected 1 to 1024, got 1025/ },
    { count: 1n, percentiles: [-1], message: /reward percentile 0: expected 0 to 100, got -1/ },
    { count: 1n, percentiles: [101], message: /reward percentile 0: expected 0 to 100, got 101/ },
    { count: 1n, percentiles: [Number.NaN], message: /reward percentile 0: .* got NaN/ },
    {
      count: 1n,
      percentiles: [50, 40],
      message: /reward percentile 1: expected 50 \(the one before it\) to 100, got 40/,
    },
    {
      count: 1n,
      percentiles: Array.from({ length: 101 }, () => 1),
      message: /at most 100, got 101/,
    },
  ])('is refused for count $count: $message', async ({ count, percentiles, message }) => {
    const error = { word: 'INVALID_PARAMS', message: expect.stringMatching(message) }
    await expect(feeHistory(state, count, newest, percentiles)).rejects.toThrow(
      expect.objectContaining(error),
    )
  })
})
