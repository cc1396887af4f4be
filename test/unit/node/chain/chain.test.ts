// The cell of a chain: updates one at a time, listeners, references to blocks.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ZERO_HASH } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { findRecord, recordAt } from '../../../../src/node/chain/lookup.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode } from '../../../../src/node/commands/miningmode.ts'
import { changeSettings } from '../../../../src/node/commands/settings.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { headOf, transactionPlace } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import type { CommandOf, StateChange } from '../../../../src/node/ledger/change.ts'
import { latest, pendingReference } from '../../../../src/node/ledger/references.ts'
import { pooledByHash } from '../../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { hashHeader } from '../../../../src/protocol/blocks/header.ts'
import { balanceAt } from '../../../../src/state/world.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { nextTurn } from '../../../support/waiting/turns.ts'
import {
  account,
  headTime,
  height,
  NOON,
  signed,
  type TestEnvironment,
  testChain,
  testEnvironment,
} from '../chains.ts'

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  setFlagsFromString('--no-expose-gc')
}

afterEach(() => {
  vi.useRealTimers()
})

describe('Chain.update', () => {
  it('lets other work run between many short commands', async () => {
    const chain = await testChain()
    let turns = 0
    const count = (): void => {
      turns += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const began = performance.now()
    const busy: CommandOf<undefined> = (state) => {
      const end = performance.now() + 2
      while (performance.now() < end);
      return { state, value: undefined }
    }
    await Promise.all(Array.from({ length: 100 }, () => chain.update(busy)))
    clearImmediate(counting)
    expect(performance.now() - began).toBeGreaterThan(200)
    // without a pause there is none at all
    expect(turns).toBeGreaterThan(3)
  })

  it('runs one command at a time, in the order of the calls', async () => {
    const chain = await testChain()
    const order: string[] = []
    const slow = chain.update(async (state) => {
      order.push('slow begins')
      await nextTurn()
      order.push('slow ends')
      return takeSnapshot(state)
    })
    const quick = chain.update((state) => {
      order.push('quick')
      return takeSnapshot(state)
    })
    expect(await Promise.all([slow, quick])).toEqual([1, 2])
    expect(order).toEqual(['slow begins', 'slow ends', 'quick'])
  })

  it('that fails changes nothing and lets the next command run', async () => {
    const chain = await testChain()
    const before = chain.state
    const failing = chain.update(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(chain.state).toBe(before)
    expect(await chain.update(takeSnapshot)).toBe(1)
  })

  it('notifies listeners before it resolves, and not if nothing changed', async () => {
    const chain = await testChain()
    const changes: StateChange[] = []
    chain.onChange((change) => changes.push(change))
    await chain.update((state) => ({ state, value: undefined }))
    expect(changes).toEqual([])
    await sendRawTransaction(chain, signed(chain).raw)
    expect(
      changes.map(({ head }) => [...head.added].map(({ block }) => block.header.number)),
    ).toEqual([[1n]])
    expect(changes[0]?.after).toBe(chain.state)
  })

  it('notifies the other listeners when one throws, and reports the error', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment })
    let changes = 0
    chain.onChange(() => {
      throw new Error('listener')
    })
    const stop = chain.onChange(() => {
      changes += 1
    })
    await chain.update(takeSnapshot)
    stop()
    await chain.update(takeSnapshot)
    expect(changes).toBe(1)
    expect(environment.bugs).toEqual([new Error('listener'), new Error('listener')])
  })

  it('notifies of abandoned blocks newest first', async () => {
    const chain = await testChain()
    const id = await chain.update(takeSnapshot)
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 3n }))
    const changes: StateChange[] = []
    chain.onChange((change) => changes.push(change))
    await chain.update((state) => revertTo(state, id))
    expect([...(changes[0]?.head.removed ?? [])].map(({ block }) => block.header.number)).toEqual([
      3n,
      2n,
      1n,
    ])
    expect(changes[0]?.head.added.length).toBe(0)
  })
})

describe('a commit', () => {
  it('gets each state in order, before any listener and before the chain has it', async () => {
    const heard: string[] = []
    const numberOf = ({ tree }: ChainState): string => `${tree.canonical.length - 1}`
    const chain = await testChain({
      commit: ({ before, after }) => {
        heard.push(`commit ${numberOf(before)} to ${numberOf(after)}, at ${numberOf(chain.state)}`)
      },
    })
    chain.onChange(({ after }) => heard.push(`listener ${numberOf(after)}`))
    const mineOne: CommandOf<unknown> = (state, executor) => mine(executor, state, { now: NOON })
    await Promise.all([chain.update(mineOne), chain.update(mineOne)])
    expect(heard).toEqual([
      'commit 0 to 1, at 0',
      'listener 1',
      'commit 1 to 2, at 1',
      'listener 2',
    ])
  })

  it('is awaited before the response and before the next command', async () => {
    const heard: string[] = []
    const stores: (() => void)[] = []
    const chain = await testChain({
      commit: () => new Promise((resolve) => void stores.push(resolve)),
    })
    chain.onChange(() => heard.push('listener'))
    const first = chain.update(takeSnapshot).then(() => heard.push('answer'))
    const second = chain.update((state) => {
      heard.push('second command')
      return takeSnapshot(state)
    })
    await eventually(() => stores.length === 1)
    expect([heard, chain.state.nextSnapshotId]).toEqual([[], 1])
    stores[0]?.()
    await first
    await eventually(() => stores.length === 2)
    expect([heard.at(0), heard.toSorted()]).toEqual([
      'listener',
      ['answer', 'listener', 'second command'],
    ])
    stores[1]?.()
    await second
    expect(chain.state.nextSnapshotId).toBe(3)
  })

  it('that fails leaves the chain as it was, and its error is the response', async () => {
    let isFull = true
    const commit = (): void => {
      if (isFull) throw new Error('the disk is full')
    }
    const chain = await testChain({ commit })
    const before = chain.state
    const changes: StateChange[] = []
    chain.onChange((change) => changes.push(change))
    await expect(chain.update(takeSnapshot)).rejects.toThrow('the disk is full')
    expect([chain.state, changes]).toEqual([before, []])
    isFull = false
    await chain.update(takeSnapshot)
    expect(changes).toHaveLength(1)
  })
})

describe('a block reference', () => {
  it('finds a block by number, tag or hash', async () => {
    const chain = await testChain()
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 2n }))
    const head = headOf(chain.state.tree)
    expect(await findRecord(chain, latest)).toBe(head)
    expect(await findRecord(chain, { kind: 'number', number: 2n })).toBe(head)
    for (const tag of ['safe', 'finalized'] as const) {
      expect(await findRecord(chain, { kind: 'tag', tag })).toBe(head)
    }
    const byHash = { kind: 'hash', hash: head.block.hash, requireCanonical: true } as const
    expect(await findRecord(chain, byHash)).toBe(head)
    const earliest = await recordAt(chain, { kind: 'tag', tag: 'earliest' })
    expect(earliest.block.header.number).toBe(0n)
  })

  it('to a block that does not exist is refused with the newest number', async () => {
    const chain = await testChain()
    const { hash } = headOf(chain.state.tree).block
    for (const number of [1n, 2n ** 200n]) {
      await expect(recordAt(chain, { kind: 'number', number })).rejects.toThrow(
        `block 0x${number.toString(16)} not found: the newest block is 0 (${hash})`,
      )
    }
    const unknown = { kind: 'hash', hash: ZERO_HASH, requireCanonical: false } as const
    await expect(recordAt(chain, unknown)).rejects.toMatchObject({ word: 'NOT_FOUND' })
  })
})

describe('the pending block', () => {
  it('has the waiting transactions, executed, and is not part of the chain', async () => {
    const chain = await testChain({ noMining: true })
    const to = account(chain, 1)
    await sendRawTransaction(chain, signed(chain, { to, value: 5n }).raw)
    const pending = await recordAt(chain, pendingReference)
    expect(pending.block.header.number).toBe(1n)
    expect(pending.executed).toHaveLength(1)
    expect(balanceAt(pending.world, to)).toBe(balanceAt(headOf(chain.state.tree).world, to) + 5n)
    expect(height(chain)).toBe(0n)
  })

  it('equals the block that is mined next', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    const pending = await chain.pending()
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    expect(headOf(chain.state.tree).block.hash).toBe(pending.block.hash)
  })

  it('is built once for each state and second', async () => {
    const environment: TestEnvironment = testEnvironment()
    const chain = await testChain({ environment })
    const first = await chain.pending()
    environment.ms += 10
    expect(await chain.pending()).toBe(first)
    environment.ms += 5000
    expect((await chain.pending()).block.header.timestamp).toBe(BigInt(NOON) / 1000n + 5n)
  })

  it('is not kept when the head changes, built or being built', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    const built = new WeakRef(await chain.pending())
    await sendRawTransaction(chain, signed(chain, { nonce: 1n }).raw)
    const inTheMaking = chain.pending().then((record) => new WeakRef(record))
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    const late = await inTheMaking
    // a WeakRef keeps what it was made of until the turn ends
    await nextTurn()
    collectGarbage()
    expect([built.deref(), late.deref()]).toEqual([undefined, undefined])
    expect(height(chain)).toBe(1n)
  })
})

describe('a mined block', () => {
  it('has the hash of its header, the hash of its parent and the total difficulty', async () => {
    const chain = await testChain({ difficulty: 7n })
    const genesis = headOf(chain.state.tree)
    await sendRawTransaction(chain, signed(chain).raw)
    const head = headOf(chain.state.tree)
    expect(head.block.hash).toBe(hashHeader(head.block.header))
    expect(head.block.header.parentHash).toBe(genesis.block.hash)
    expect(head.totalDifficulty).toBe(14n)
  })

  it('takes the highest tip first, then the oldest, but each sender by nonce', async () => {
    const chain = await testChain({ noMining: true })
    const send = async (index: number, nonce: bigint, price: bigint): Promise<string> => {
      const fees = { maxFeePerGas: price, maxPriorityFeePerGas: price }
      return sendRawTransaction(chain, signed(chain, { index, nonce, ...fees }).raw)
    }
    const cheapFirst = await send(0, 0n, 1n)
    const dearSecond = await send(0, 1n, 100n)
    const middle = await send(1, 0n, 50n)
    const equal = await send(2, 0n, 50n)
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    const mined = headOf(chain.state.tree).block.transactions.map(({ hash }) => hash)
    expect(mined).toEqual([middle, equal, cheapFirst, dearSecond])
  })

  it('leaves transactions that do not fit for the next block', async () => {
    const chain = await testChain({ noMining: true, gasLimit: 50_000n })
    const first = await sendRawTransaction(chain, signed(chain, { gasLimit: 30_000n }).raw)
    const large = await sendRawTransaction(
      chain,
      signed(chain, { index: 1, gasLimit: 40_000n }).raw,
    )
    const small = await sendRawTransaction(chain, signed(chain, { index: 2 }).raw)
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 2n }))
    const blockOf = (hash: string): bigint | undefined =>
      transactionPlace(chain.state.tree, hash as never)?.record.block.header.number
    expect([first, large, small].map(blockOf)).toEqual([1n, 2n, 1n])
  })

  it('drops transactions that became impossible, with the reason', async () => {
    const chain = await testChain({ noMining: true, balance: 100n })
    const to = account(chain, 1)
    await sendRawTransaction(chain, signed(chain, { to, value: 80n }).raw)
    const second = signed(chain, { to, value: 90n, nonce: 1n })
    await sendRawTransaction(chain, second.raw)
    const changes: StateChange[] = []
    chain.onChange((change) => changes.push(change))
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    expect(headOf(chain.state.tree).block.transactions).toHaveLength(1)
    expect(pooledByHash(chain.state.pool, second.hash)).toBeUndefined()
    expect(changes[0]?.dropped.map(({ error }) => error.word)).toEqual(['INSUFFICIENT_FUNDS'])
  })

  it('has a constant base fee, unless a market is configured', async () => {
    const pinned = await testChain()
    const market = await testChain({ baseFee: 1_000n })
    for (const chain of [pinned, market]) {
      await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 2n }))
    }
    expect(headOf(pinned.state.tree).block.header.baseFeePerGas).toBe(0n)
    // an empty block lowers it by an eighth
    expect(headOf(market.state.tree).block.header.baseFeePerGas).toBe(766n)
  })

  it('takes a base fee that is set for the next block only', async () => {
    const chain = await testChain({ baseFee: 1_000n })
    await chain.update((state) => changeSettings(state, { nextBaseFee: 5_000n }))
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    expect(headOf(chain.state.tree).block.header.baseFeePerGas).toBe(5_000n)
    expect(chain.state.settings.nextBaseFee).toBeUndefined()
  })

  it('is equal in two runs of one script on a frozen clock', async () => {
    const run = async (ms: number): Promise<string> => {
      const environment = testEnvironment()
      environment.ms = ms
      const chain = await testChain({ environment, clock: { kind: 'frozen' } })
      await sendRawTransaction(chain, signed(chain).raw)
      await chain.update((state) => mine(chain.executor, state, { now: ms, blocks: 2n }))
      return headOf(chain.state.tree).block.hash
    }
    expect(await run(NOON)).toBe(await run(NOON + 123_456_789))
  })
})

describe('the wall time of the newest block', () => {
  it('is when it was mined, whatever its timestamp, also after a revert', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment })
    expect(chain.headMadeAt).toBe(NOON)
    const id = await chain.update(takeSnapshot)
    environment.ms += 1_500
    expect(chain.headMadeAt).toBe(NOON)
    await chain.update((state) =>
      mine(chain.executor, state, { now: environment.ms, timestamp: 4_000_000_000n }),
    )
    environment.ms += 1_500
    await chain.update((state) => revertTo(state, id))
    expect(chain.headMadeAt).toBe(NOON + 1_500)
  })
})

/** Waits for what a timer has had the chain do: commands wait for those before them. */
async function settled(chain: Chain): Promise<void> {
  await chain.update((state) => ({ state, value: undefined }))
}

describe('interval mining', () => {
  it('mines a block each interval until it is stopped, by a revert too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const chain = await testChain()
    const id = await chain.update(takeSnapshot)
    const mode = { kind: 'interval', intervalMs: 1000 } as const
    await chain.update((state) => setMiningMode(chain.executor, state, mode, NOON))
    for (let tick = 1n; tick <= 3n; tick += 1n) {
      await vi.advanceTimersByTimeAsync(1000)
      await settled(chain)
      expect(height(chain)).toBe(tick)
    }
    await chain.update((state) => revertTo(state, id))
    await vi.advanceTimersByTimeAsync(5000)
    await settled(chain)
    expect(height(chain)).toBe(0n)
  })

  it('keeps transactions waiting until the first interval is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    const mode = { kind: 'interval', intervalMs: 1000 } as const
    await chain.update((state) => setMiningMode(chain.executor, state, mode, NOON))
    expect(height(chain)).toBe(0n)
    await vi.advanceTimersByTimeAsync(999)
    expect(height(chain)).toBe(0n)
    await vi.advanceTimersByTimeAsync(1)
    await settled(chain)
    expect(height(chain)).toBe(1n)
    expect(headOf(chain.state.tree).block.transactions).toHaveLength(1)
    chain.close()
  })

  it('at random picks each interval between the two', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const draws = ['00000000', 'ffffffff', '80000000'].map((hex) => Buffer.from(hex, 'hex'))
    const random = (length: number): Uint8Array =>
      (length === 4 ? draws.shift() : undefined) ?? new Uint8Array(length)
    const mode = { kind: 'interval', intervalMs: 1000, longestMs: 3000 } as const
    const chain = await testChain({ environment: { ...testEnvironment(), random } })
    const mined: number[] = []
    chain.onChange(() => mined.push(performance.now()))
    await chain.update((state) => setMiningMode(chain.executor, state, mode, NOON))
    for (let i = 0; i < 3; i += 1) {
      expect(vi.getTimerCount()).toBe(1)
      await vi.advanceTimersToNextTimerAsync()
      await settled(chain)
    }
    expect(height(chain)).toBe(3n)
    const gaps = mined.slice(1).map((time, i) => time - (mined[i] ?? 0))
    expect(gaps).toEqual([1000, 3000, 2000])
    chain.close()
  })

  it('continues from the block that a revert restored', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const chain = await testChain({ blockTime: 1000 })
    const id = await chain.update(takeSnapshot)
    for (const target of [1n, 2n]) {
      await vi.advanceTimersByTimeAsync(1000)
      await settled(chain)
      expect(height(chain)).toBe(target)
    }
    await chain.update((state) => revertTo(state, id))
    expect(height(chain)).toBe(0n)
    await vi.advanceTimersByTimeAsync(1000)
    await settled(chain)
    expect(height(chain)).toBe(1n)
    chain.close()
  })

  it('ends with the chain', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const chain = await testChain({ blockTime: 100 })
    chain.close()
    expect(vi.getTimerCount()).toBe(0)
    expect(headTime(chain)).toBe(BigInt(NOON) / 1000n)
  })
})
