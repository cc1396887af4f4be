// What can be done to a chain: snapshots, reverts, resets, mining, time.
import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'
import { describe, expect, it, vi } from 'vitest'
import {
  impersonateAccount,
  isImpersonated,
  keyOf,
  lock,
} from '../../../../src/node/accounts/accounts.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode, startMining, stopMining } from '../../../../src/node/commands/miningmode.ts'
import { changeAccounts, changeSettings } from '../../../../src/node/commands/settings.ts'
import {
  dropSnapshot,
  reset,
  returnTo,
  revertTo,
  takeNamedSnapshot,
  takeSnapshot,
} from '../../../../src/node/commands/snapshots.ts'
import { increaseTime, setNextTimestamp } from '../../../../src/node/commands/time.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import type { Change } from '../../../../src/node/ledger/change.ts'
import { isMining } from '../../../../src/node/ledger/miningmode.ts'
import { MAX_NAMED, snapshotsOf } from '../../../../src/node/ledger/snapshots.ts'
import { sendRawTransaction, sendTransaction } from '../../../../src/node/sending/send.ts'
import { balanceAt } from '../../../../src/state/world.ts'
import { account, headTime, height, NOON, signed, testChain } from '../chains.ts'

function mineBlocks(chain: Chain, blocks: bigint): Promise<unknown> {
  return chain.update((state) => mine(chain.executor, state, { now: NOON, blocks }))
}

function revert(chain: Chain, id: number): Promise<boolean> {
  return chain.update((state) => revertTo(state, id))
}

describe('a snapshot', () => {
  it('restores everything: blocks, accounts, pool, clock, settings, mining, keys', async () => {
    const chain = await testChain({ noMining: true })
    const from = account(chain, 0)
    await sendTransaction(chain, { from, to: from })
    await chain.update((state) => setNextTimestamp(state, headTime(chain) + 500n))
    const id = await chain.update(takeSnapshot)
    const kept = chain.state

    await mineBlocks(chain, 3n)
    await chain.update((state) => increaseTime(state, 1000n, NOON))
    await chain.update((state) => changeSettings(state, { gasPrice: 9n, blockGasLimit: 1n }))
    await chain.update((state) => setMiningMode(chain.executor, state, { kind: 'instant' }, NOON))
    await chain.update((state) => changeAccounts(state, lock(state.accounts, from, NOON)!))
    await chain.update((state) =>
      changeAccounts(state, impersonateAccount(state.accounts, account(chain, 1))),
    )

    expect(await revert(chain, id)).toBe(true)
    expect(chain.state).toEqual({ ...kept, left: chain.state.left })
    expect(height(chain)).toBe(0n)
    expect(chain.state.pool.size).toBe(1)
    expect(keyOf(chain.state.accounts, from, NOON)).toBeDefined()
    expect(isImpersonated(chain.state.accounts, account(chain, 1), NOON)).toBe(false)
  })

  it('can be reverted to again and again', async () => {
    const chain = await testChain()
    const id = await chain.update(takeSnapshot)
    const { hash } = headOf(chain.state.tree).block
    for (let round = 0; round < 3; round += 1) {
      await mineBlocks(chain, 2n)
      expect(await revert(chain, id)).toBe(true)
      expect(headOf(chain.state.tree).block.hash).toBe(hash)
    }
  })

  it('can be reverted to once under consumeSnapshots', async () => {
    const chain = await testChain({ consumeSnapshots: true })
    const [first, second] = [await chain.update(takeSnapshot), await chain.update(takeSnapshot)]
    expect(await revert(chain, second)).toBe(true)
    expect(await revert(chain, second)).toBe(false)
    expect(await revert(chain, first)).toBe(true)
  })

  it('disappears when an older one is reverted to, and its id is not used again', async () => {
    const chain = await testChain()
    const ids = []
    for (let count = 0; count < 3; count += 1) ids.push(await chain.update(takeSnapshot))
    expect(ids).toEqual([1, 2, 3])
    expect(await revert(chain, 2)).toBe(true)
    expect(await revert(chain, 3)).toBe(false)
    expect(await revert(chain, 1)).toBe(true)
    expect(await chain.update(takeSnapshot)).toBe(4)
  })

  it.each([0, -1, 2, 1.5, Number.NaN])(
    'of id %s is unknown, and reverting to it changes nothing',
    async (id) => {
      const chain = await testChain()
      await chain.update(takeSnapshot)
      await mineBlocks(chain, 1n)
      const before = chain.state
      expect(await revert(chain, id)).toBe(false)
      expect(chain.state).toBe(before)
    },
  )

  it('costs nothing, however many exist', async () => {
    const chain = await testChain()
    let state = chain.state
    // copies of all would take hours
    for (let count = 0; count < 100_000; count += 1) state = takeSnapshot(state).state
    expect(revertTo(state, 1).value).toBe(true)
  })
})

describe('a named snapshot', () => {
  const take = (chain: Chain, name: string): Promise<unknown> =>
    chain.update((state) => takeNamedSnapshot(state, name))
  const drop = (chain: Chain, name: string | number): Promise<unknown> =>
    chain.update((state) => dropSnapshot(state, name))
  const goBack = (chain: Chain, name: string | number): Promise<unknown> =>
    chain.update((state) => returnTo(state, name))

  it('can be reverted to again and again, even under consumeSnapshots and after any other', async () => {
    const chain = await testChain({ consumeSnapshots: true })
    const older = await chain.update(takeSnapshot)
    await mineBlocks(chain, 1n)
    await take(chain, 'one')
    await mineBlocks(chain, 1n)
    await take(chain, 'two')
    expect(await revert(chain, older)).toBe(true)
    for (const [name, blocks] of [
      ['two', 2n],
      ['one', 1n],
      ['two', 2n],
    ] as const) {
      await goBack(chain, name)
      expect(height(chain)).toBe(blocks)
    }
    expect(snapshotsOf(chain.state).map(({ id, name }) => name ?? id)).toEqual([1, 'one', 'two'])
  })

  it('is forgotten by a reset', async () => {
    const chain = await testChain()
    await take(chain, 'one')
    await chain.update(reset)
    await expect(goBack(chain, 'one')).rejects.toThrow('snapshot "one" not found: there is none')
  })

  it('can be dropped by name or id, and its name is free again', async () => {
    const chain = await testChain()
    const before = chain.state
    await take(chain, 'one')
    await mineBlocks(chain, 1n)
    await take(chain, 'two')
    expect(await drop(chain, 'one')).toMatchObject({ id: 1, name: 'one' })
    expect(await drop(chain, 2)).toMatchObject({ id: 2, name: 'two' })
    expect(height(chain)).toBe(1n)
    expect(chain.state).toMatchObject({ namedSnapshots: new Map(), nextSnapshotId: 3 })
    expect(chain.state.newestSnapshot).toBe(before.newestSnapshot)
    await expect(drop(chain, 'one')).rejects.toThrow('snapshot "one" not found: there is none')
    await take(chain, 'one')
    expect(snapshotsOf(chain.state)).toMatchObject([{ id: 3, name: 'one' }])
  })

  it('does not restore an unnamed snapshot that was dropped', async () => {
    const chain = await testChain()
    for (let count = 0; count < 3; count += 1) await chain.update(takeSnapshot)
    await take(chain, 'four')
    await chain.update(takeSnapshot)
    await take(chain, 'six')
    await drop(chain, 2)
    const left = [1, 3, 'four', 5, 'six']
    expect(snapshotsOf(chain.state).map(({ id, name }) => name ?? id)).toEqual(left)
    await goBack(chain, 'four')
    expect(snapshotsOf(chain.state).map(({ id, name }) => name ?? id)).toEqual([
      1,
      3,
      'four',
      'six',
    ])
    await goBack(chain, 'six')
    expect(snapshotsOf(chain.state).map(({ id, name }) => name ?? id)).toEqual(left)
    await expect(goBack(chain, 2)).rejects.toThrow('snapshot 0x2 not found')
    expect(await revert(chain, 3)).toBe(true)
    expect(await revert(chain, 1)).toBe(true)
  })

  it('taken again keeps nothing of the old one in memory', async () => {
    const { state: first } = await testChain()
    let state = first
    for (let round = 0; round < 3; round += 1) {
      state = takeSnapshot(takeNamedSnapshot(state, 'one').state).state
    }
    expect(state.namedSnapshots.get('one')?.state.namedSnapshots.size).toBe(0)
    expect(state.newestSnapshot?.state.namedSnapshots.size).toBe(0)
    expect(snapshotsOf(state)).toHaveLength(4)
  })

  it(`is refused after ${MAX_NAMED} names, but one of them can be taken again`, async () => {
    let { state } = await testChain()
    for (let i = 0; i < MAX_NAMED; i += 1) state = takeNamedSnapshot(state, `name ${i}`).state
    expect(() => takeNamedSnapshot(state, 'another')).toThrow('too many named snapshots')
    expect(takeNamedSnapshot(state, 'name 7').state.namedSnapshots.size).toBe(MAX_NAMED)
  })
})

describe('a reset', () => {
  it('returns to the genesis and clears snapshots, pool, clock and modes, but reuses no id', async () => {
    const chain = await testChain()
    const { state: first } = chain
    const id = await chain.update(takeSnapshot)
    await mineBlocks(chain, 2n)
    await chain.update((state) => increaseTime(state, 50n, NOON))
    await chain.update(stopMining)
    await sendRawTransaction(chain, signed(chain).raw)
    await chain.update(reset)
    expect(chain.state).toEqual({ ...first, nextSnapshotId: 2, resets: 1 })
    expect(await revert(chain, id)).toBe(false)
    expect(await chain.update(takeSnapshot)).toBe(2)
  })

  it('can be repeated', async () => {
    const chain = await testChain()
    for (let round = 0; round < 2; round += 1) {
      await mineBlocks(chain, 1n)
      await chain.update(reset)
      expect(height(chain)).toBe(0n)
    }
  })
})

describe('mining', () => {
  it('by hand makes the requested number of blocks, with the waiting transactions in the first', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    const mined = await chain.update((state) =>
      mine(chain.executor, state, { now: NOON, blocks: 3n }),
    )
    const records = [...mined]
    expect(records.map(({ block }) => block.transactions.length)).toEqual([1, 0, 0])
    expect(records.map(({ block }) => block.header.number)).toEqual([1n, 2n, 3n])
  })

  it('of no blocks changes nothing', async () => {
    const chain = await testChain()
    const before = chain.state
    await mineBlocks(chain, 0n)
    expect(chain.state).toBe(before)
  })

  it('refuses too many blocks and a negative number', async () => {
    const chain = await testChain()
    await expect(mineBlocks(chain, 2n ** 53n)).rejects.toMatchObject({ word: 'LIMIT_EXCEEDED' })
    await expect(mineBlocks(chain, -1n)).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
  })

  it('stops before memory runs out, and changes nothing', async () => {
    const chain = await testChain()
    await mineBlocks(chain, 1n)
    const before = chain.state
    const statistics = v8.getHeapStatistics()
    const full = { ...statistics, used_heap_size: 0.9 * statistics.heap_size_limit }
    const spy = vi.spyOn(v8, 'getHeapStatistics').mockReturnValue(full)
    // named imports of node's modules need a flag to be followed
    syncBuiltinESMExports()
    await expect(mineBlocks(chain, 100_000n)).rejects.toThrow('not enough memory for 100000 blocks')
    spy.mockRestore()
    syncBuiltinESMExports()
    expect(chain.state).toBe(before)
  })

  it('when stopped says so, and still works by hand', async () => {
    const chain = await testChain()
    expect(isMining(chain.state.mining)).toBe(true)
    await chain.update(stopMining)
    expect(isMining(chain.state.mining)).toBe(false)
    await sendRawTransaction(chain, signed(chain).raw)
    await mineBlocks(chain, 1n)
    expect(headOf(chain.state.tree).block.transactions).toHaveLength(1)
  })

  it('by hand becomes instant when mining is started', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    await chain.update((state) => startMining(chain.executor, state, NOON))
    expect(height(chain)).toBe(1n)
    await sendRawTransaction(chain, signed(chain, { nonce: 1n }).raw)
    expect(height(chain)).toBe(2n)
  })

  it('on an interval mines waiting transactions when restarted, or nothing', async () => {
    const chain = await testChain({ noMining: true })
    const mode = { kind: 'interval', intervalMs: 1e6 } as const
    await chain.update((state) => setMiningMode(chain.executor, state, mode, NOON))
    expect(height(chain)).toBe(0n)
    await chain.update(stopMining)
    await sendRawTransaction(chain, signed(chain).raw)
    await chain.update((state) => startMining(chain.executor, state, NOON))
    expect(chain.state.mining.mode).toEqual(mode)
    expect(height(chain)).toBe(1n)
    chain.close()
  })

  it.each([0, -5, Number.NaN, 2 ** 31])('refuses an interval of %s ms', async (intervalMs) => {
    const chain = await testChain()
    const change = (state: ChainState): Promise<Change<unknown>> =>
      setMiningMode(chain.executor, state, { kind: 'interval', intervalMs }, NOON)
    await expect(chain.update(change)).rejects.toThrow(`milliseconds, got ${intervalMs}`)
  })

  it('pays tips to the coinbase', async () => {
    const chain = await testChain({ coinbase: account(await testChain(), 9), balance: 10n ** 18n })
    const before = balanceAt(headOf(chain.state.tree).world, account(chain, 9))
    const price = { maxFeePerGas: 7n, maxPriorityFeePerGas: 7n }
    await sendRawTransaction(chain, signed(chain, price).raw)
    const after = balanceAt(headOf(chain.state.tree).world, account(chain, 9))
    expect(after - before).toBe(147_000n)
  })
})
