// Branches: what reverts and reorgs left is known by hash, may be gone on from, and runs again.
import { describe, expect, it } from 'vitest'
import type { Address } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { recordAt } from '../../../../src/node/chain/lookup.ts'
import { branchAt, replayBranch } from '../../../../src/node/commands/branches.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { knownPlace, leftBlocks } from '../../../../src/node/ledger/leftblocks.ts'
import { reorganize } from '../../../../src/node/mining/reorganize.ts'
import { sendTransaction } from '../../../../src/node/sending/send.ts'
import { balanceAt, stateRoot } from '../../../../src/state/world.ts'
import { account, height, NOON, testChain } from '../chains.ts'

const pay = (chain: Chain, from: Address, to: Address, value: bigint): Promise<unknown> =>
  sendTransaction(chain, { from, to, value })
const rollBack = (chain: Chain, depth: bigint): Promise<unknown> =>
  chain.update((state, executor) =>
    reorganize(executor, state, { depth, blocks: [], requeue: false, now: NOON }),
  )
const hashes = (chain: Chain): readonly string[] =>
  leftBlocks(chain.state).map(({ block }) => block.hash)
const head = (chain: Chain) => headOf(chain.state.tree).block

describe('blocks off the chain', () => {
  it('are those of reverts and reorgs, newest first, without those that came back', async () => {
    const chain = await testChain()
    const [one, two] = [account(chain, 0), account(chain, 1)]
    const id = await chain.update(takeSnapshot)
    await pay(chain, one, two, 1n)
    const first = head(chain).hash
    await pay(chain, one, two, 2n)
    const second = head(chain).hash
    await chain.update((state) => revertTo(state, id))
    expect(hashes(chain)).toEqual([second, first])
    await pay(chain, one, two, 1n)
    expect(head(chain).hash).toBe(first)
    expect(hashes(chain)).toEqual([second])
    await rollBack(chain, 1n)
    expect(new Set(hashes(chain))).toEqual(new Set([second, first]))
  })

  it('are read by their hashes with their states and transactions, unless a canonical one is asked for', async () => {
    const chain = await testChain()
    const [one, two] = [account(chain, 0), account(chain, 1)]
    const start = balanceAt(headOf(chain.state.tree).world, two)
    const id = await chain.update(takeSnapshot)
    await pay(chain, one, two, 1n)
    const [first] = head(chain).transactions
    await pay(chain, one, two, 2n)
    const [parent, { hash }] = [head(chain).header.parentHash, head(chain)]
    await chain.update((state) => revertTo(state, id))
    const byHash = (requireCanonical: boolean) =>
      recordAt(chain, { kind: 'hash', hash, requireCanonical })
    const left = await byHash(false)
    expect(balanceAt(left.world, two) - start).toBe(3n)
    expect(chain.environmentOf(left).blockHash(1n)).toBe(parent)
    expect(chain.environmentOf(left).blockHash(0n)).toBe(head(chain).hash)
    expect(knownPlace(chain.state, first!.hash)?.record.block.hash).toBe(parent)
    await expect(byHash(true)).rejects.toThrow(`block ${hash} is not canonical`)
    await pay(chain, one, two, 3n)
    const { transactions } = head(chain)
    await rollBack(chain, 1n)
    expect(knownPlace(chain.state, transactions[0]!.hash)?.index).toBe(0)
  })

  it('keep no state of a revert that took more than 1,024 blocks away', async () => {
    const chain = await testChain()
    const id = await chain.update(takeSnapshot)
    for (const blocks of [1_025n, 1_024n]) {
      await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks }))
      await chain.update((state) => revertTo(state, id))
    }
    expect(hashes(chain)).toHaveLength(1_024)
    expect(chain.state.left).toHaveLength(1)
  })

  it('are bounded together when a later revert goes further back', async () => {
    const chain = await testChain()
    const first = await chain.update(takeSnapshot)
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 1_000n }))
    const later = await chain.update(takeSnapshot)
    await pay(chain, account(chain, 0), account(chain, 1), 1n)
    await chain.update((state) => revertTo(state, later))
    expect(hashes(chain)).toHaveLength(1)
    await chain.update((state) => revertTo(state, first))
    expect(hashes(chain)).toHaveLength(1_000)
    expect(chain.state.left).toHaveLength(1)
  })
})

describe('a branch', () => {
  it('begins after any block of the chain, of a reorg or of a revert', async () => {
    const chain = await testChain()
    const [one, two] = [account(chain, 0), account(chain, 1)]
    const start = balanceAt(headOf(chain.state.tree).world, two)
    await pay(chain, one, two, 1n)
    const id = await chain.update(takeSnapshot)
    await pay(chain, one, two, 10n)
    const { hash: reverted } = head(chain)
    await chain.update((state) => revertTo(state, id))
    await pay(chain, one, two, 100n)
    const { hash: left } = head(chain)
    await rollBack(chain, 1n)
    const gained = (reference: Parameters<typeof branchAt>[1]): bigint =>
      balanceAt(headOf(branchAt(chain.state, reference).tree).world, two) - start
    const byHash = (hash: typeof left) => ({ kind: 'hash', hash, requireCanonical: false }) as const
    expect(gained(byHash(reverted))).toBe(11n)
    expect(gained(byHash(left))).toBe(101n)
    expect(gained({ kind: 'number', number: 0n })).toBe(0n)
    expect(gained({ kind: 'tag', tag: 'latest' })).toBe(1n)
    expect(() => gained({ kind: 'number', number: 2n })).toThrow('block 0x2 not found')
    expect(height(chain)).toBe(1n)
  })
})

describe('a replay', () => {
  it.each([false, true])(
    'leads to the same state where nothing else changed, with times, fees and randomness of before (equal times: %s)',
    async (sameTimestamp) => {
      const chain = await testChain({ maxUncles: 0, sameTimestamp })
      const [one, two] = [account(chain, 0), account(chain, 1)]
      for (const value of [1n, 2n, 3n]) await pay(chain, one, two, value)
      const before = headOf(chain.state.tree)
      await rollBack(chain, 3n)
      const replayed = await chain.update((state, executor) =>
        replayBranch(executor, state, before.block.hash, NOON + 60_000),
      )
      expect(replayed.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined])
      expect(head(chain).hash).toBe(before.block.hash)
      expect(stateRoot(headOf(chain.state.tree).world)).toBe(stateRoot(before.world))
    },
  )

  it('runs on a chain that went on, and leaves out what may not be in its block any more', async () => {
    const chain = await testChain()
    const [one, two, three] = [account(chain, 0), account(chain, 1), account(chain, 2)]
    const id = await chain.update(takeSnapshot)
    await pay(chain, one, two, 1n)
    await pay(chain, three, two, 2n)
    const { hash } = head(chain)
    await chain.update((state) => revertTo(state, id))
    await pay(chain, one, three, 5n)
    const replayed = await chain.update((state, executor) =>
      replayBranch(executor, state, hash, NOON),
    )
    expect(replayed.map(({ after }) => after?.receipt.status)).toEqual([undefined, true])
    expect(replayed[0]?.refusal).toContain('nonce')
    expect(height(chain)).toBe(3n)
  })
})
