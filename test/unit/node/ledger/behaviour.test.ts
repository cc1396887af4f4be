// What a chain does otherwise where it is made to behave so.
import { describe, expect, test } from 'vitest'
import type { Address } from '../../../../src/core/hex.ts'
import { estimateGas } from '../../../../src/node/calls/estimate.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { recordAt } from '../../../../src/node/chain/lookup.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode } from '../../../../src/node/commands/miningmode.ts'
import { changeSettings, setGasLimit } from '../../../../src/node/commands/settings.ts'
import { increaseTime, setNextTimestamp } from '../../../../src/node/commands/time.ts'
import type { Behaviour } from '../../../../src/node/ledger/behaviour.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { latest } from '../../../../src/node/ledger/references.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { headTime, height, NOON, signed, testChain } from '../chains.ts'

/** A chain that mines by hand. */
function manualChain(behaviour: Partial<Behaviour>): Promise<Chain> {
  return testChain({ noMining: true, behaviour })
}

async function send(chain: Chain, changes: Parameters<typeof signed>[1]): Promise<void> {
  await sendRawTransaction(chain, signed(chain, changes).raw)
}

function mineOne(chain: Chain): Promise<unknown> {
  return chain.update((state) => mine(chain.executor, state, { now: NOON }))
}

function automine(chain: Chain): Promise<unknown> {
  return chain.update((state) => setMiningMode(chain.executor, state, { kind: 'instant' }, NOON))
}

const newest = (chain: Chain): number => headOf(chain.state.tree).executed.length

describe('the pool', () => {
  test.each([
    [true, { atOnce: 2n, after: 3n, left: 0 }],
    [false, { atOnce: 0n, after: 3n, left: 2 }],
  ])('is mined when automining starts, or with the next transaction: %j', async (now, expected) => {
    const chain = await manualChain({ automineMinesPool: now })
    await send(chain, { nonce: 0n })
    await send(chain, { nonce: 1n })
    await automine(chain)
    expect([height(chain), chain.state.pool.size]).toEqual([expected.atOnce, expected.left])
    await send(chain, { nonce: 2n })
    expect([height(chain), chain.state.pool.size]).toEqual([expected.after, 0])
  })

  test.each([
    [true, 3n, 1],
    [false, 1n, 3],
  ])(
    'is mined into one block per transaction, or as few as possible: %j',
    async (single, blocks, inNewest) => {
      const chain = await manualChain({ automineMinesPool: false, oneTransactionABlock: single })
      await send(chain, { nonce: 0n })
      await send(chain, { nonce: 1n })
      await automine(chain)
      await send(chain, { nonce: 2n })
      expect([height(chain), newest(chain)]).toEqual([blocks, inNewest])
    },
  )

  test.each([
    [true, 1],
    [false, 2],
  ])('drops transactions too large for smaller blocks: %j', async (empties, left) => {
    const chain = await manualChain({ limitEmptiesPool: empties })
    await send(chain, { nonce: 0n, gasLimit: 21_000n })
    await send(chain, { index: 1, nonce: 0n, gasLimit: 100_000n })
    await chain.update((state) => setGasLimit(state, 99_999n))
    expect(chain.state.pool.size).toBe(left)
  })

  test('keeps what offers less than the least price, with later ones of its sender, until the price falls', async () => {
    const chain = await testChain({
      hardfork: 'berlin',
      noMining: true,
      behaviour: { cheapOnesWait: true },
    })
    const price = (wei: bigint) => ({ maxFeePerGas: wei, maxPriorityFeePerGas: wei })
    await chain.update((state) => changeSettings(state, { minGasPrice: 20n }))
    await send(chain, { nonce: 0n, ...price(19n) })
    await send(chain, { nonce: 1n, ...price(20n) })
    await send(chain, { index: 1, nonce: 0n, ...price(20n) })
    await mineOne(chain)
    expect([newest(chain), chain.state.pool.size]).toEqual([1, 2])
    await automine(chain)
    await expect(send(chain, { index: 2, nonce: 0n, ...price(19n) })).rejects.toThrow(
      'transaction underpriced: offers 19 wei per gas, the minimum is 20',
    )
    expect(chain.state.pool.size).toBe(2)
    await chain.update((state) => changeSettings(state, { minGasPrice: 19n }))
    await mineOne(chain)
    expect([newest(chain), chain.state.pool.size]).toEqual([2, 0])
  })
})

describe('a block', () => {
  test.each([
    [true, 0n],
    [false, 1n],
  ])('within the same second shares the time, or gets a later one: %j', async (share, step) => {
    const chain = await testChain({ noMining: true, sameTimestamp: share })
    await chain.update((state) => increaseTime(state, 10n, NOON))
    await mineOne(chain)
    const first = headTime(chain)
    await mineOne(chain)
    await chain.update((state) => increaseTime(state, 0n, NOON))
    await mineOne(chain)
    expect(headTime(chain) - first).toBe(2n * step)
    await chain.update((state) => increaseTime(state, 5n, NOON))
    await mineOne(chain)
    expect(headTime(chain) - first).toBe(share ? 5n : 7n)
  })

  test.each([
    [true, -1n, /is before .* block timestamps do not go back$/],
    [false, 0n, /is not after .* block timestamps increase$/],
  ])('with too early a time is refused with what was expected: %j', async (share, step, words) => {
    const chain = await testChain({ noMining: true, sameTimestamp: share })
    await mineOne(chain)
    const asked = headTime(chain) + step
    const setting = chain.update((state) => setNextTimestamp(state, asked))
    await expect(setting).rejects.toThrow(words)
  })
})

describe('the safe and the final block', () => {
  test.each([
    [0n, 5n, 5n],
    [2n, 3n, 1n],
    [4n, 1n, 0n],
    [32n, 0n, 0n],
  ])('are epochs of %d blocks behind the newest: %d and %d of 5', async (epoch, safe, final) => {
    const chain = await manualChain({ blocksInEpoch: epoch })
    for (let i = 0; i < 5; i += 1) await mineOne(chain)
    const numberAt = async (tag: 'safe' | 'finalized'): Promise<bigint> =>
      (await recordAt(chain, { kind: 'tag', tag })).block.header.number
    expect([await numberAt('safe'), await numberAt('finalized')]).toEqual([safe, final])
  })
})

describe('estimateGas', () => {
  const poor = '0x00000000000000000000000000000000000a11ce' as Address
  const to = '0x00000000000000000000000000000000000b0b00' as Address

  test('of a transfer runs no code if the chain behaves so', async () => {
    const chain = await manualChain({ estimatesRunTransfers: false })
    expect(await estimateGas(chain, { from: poor, to, value: 1n, gas: 100n }, latest)).toBe(21_000n)
  })

  test.each([
    ['of data', false, { to, data: Uint8Array.of(1) }],
    ['with an access list', false, { to, accessList: [] }],
    ['of a creation', false, {}],
    ['of a transfer on a chain that runs them', true, { to }],
  ] as const)('for %s requires the value', async (_, estimatesRunTransfers, members) => {
    const chain = await manualChain({ estimatesRunTransfers })
    const estimate = async () => estimateGas(chain, { from: poor, value: 1n, ...members }, latest)
    await expect(estimate()).rejects.toThrow(/^insufficient funds/)
  })
})
