// Filters that callers poll, over the changes of a chain.
import { describe, expect, test } from 'vitest'
import type { Hash } from '../../../../src/core/hex.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { type FilterLimits, Filters } from '../../../../src/node/events/filters.ts'
import type { LogQuery } from '../../../../src/node/events/logs.ts'
import { truncateTo } from '../../../../src/node/ledger/blocktree.ts'
import type { BlockReference } from '../../../../src/node/ledger/references.ts'
import { emptyPool, withTransaction } from '../../../../src/node/pool/pool.ts'
import { usedBytes } from '../../../support/process/memory.ts'
import { countTurns } from '../../../support/waiting/turns.ts'
import { NOON, testChain } from '../chains.ts'
import {
  addressOf,
  chainOf,
  extend,
  logOf,
  setTree,
  stateOf,
  transactionOf,
  treeOf,
  word,
} from '../records.ts'

const anything: LogQuery = { addresses: [], topics: [] }
const number = (value: number): BlockReference => ({ kind: 'number', number: BigInt(value) })
const oneLog = { transactions: [{ logs: [logOf(1, 0xa)] }] }
const base = treeOf(oneLog)

function started(
  limits: Partial<FilterLimits> = {},
): ReturnType<typeof chainOf> & { filters: Filters } {
  const parts = chainOf(stateOf(base))
  return { ...parts, filters: new Filters(parts.chain, limits) }
}

/** The changes of a log filter: block numbers, `-` before those of removed logs. */
async function polled(filters: Filters, id: bigint): Promise<string[]> {
  const changes = await filters.changes(id)
  if (changes.kind !== 'logs') throw new Error(`expected a log filter, got ${changes.kind}`)
  return changes.logs.map(({ removed, block }) => `${removed ? '-' : ''}${block.header.number}`)
}

async function stored(filters: Filters, id: bigint): Promise<bigint[]> {
  return (await filters.logs(id)).map(({ block }) => block.header.number)
}

function refusal(word: string, message: RegExp): unknown {
  return expect.objectContaining({ word, message: expect.stringMatching(message) })
}

describe('a log filter', () => {
  test('returns what happened since the last poll, once', async () => {
    const { chain, filters } = started()
    const id = filters.addLogFilter(anything)
    expect(await polled(filters, id)).toEqual([])
    await setTree(chain, extend(base, oneLog, {}, oneLog))
    expect(await polled(filters, id)).toEqual(['2', '4'])
    expect(await polled(filters, id)).toEqual([])
  })

  test('returns removed logs before new ones', async () => {
    const { chain, filters } = started()
    const id = filters.addLogFilter(anything)
    const grown = extend(base, oneLog)
    await setTree(chain, grown)
    await polled(filters, id)
    await setTree(chain, extend(truncateTo(grown, 1n), { ...oneLog, salt: 1 }, oneLog))
    expect(await polled(filters, id)).toEqual(['-2', '2', '3'])
  })

  test('returns removed logs of blocks older than itself after a revert', async () => {
    const { chain, filters } = started()
    const id = filters.addLogFilter(anything)
    await setTree(chain, truncateTo(base, 0n))
    expect(await polled(filters, id)).toEqual(['-1'])
  })

  test.each<{ query: Partial<LogQuery>; heard: string[] }>([
    { query: { addresses: [addressOf(1)] }, heard: ['2', '3', '4'] },
    { query: { addresses: [addressOf(2)] }, heard: [] },
    { query: { topics: [[word(0xa)]] }, heard: ['2', '3', '4'] },
    { query: { topics: [[word(0xb)]] }, heard: [] },
    { query: { from: number(3) }, heard: ['3', '4'] },
    { query: { from: number(0), to: number(3) }, heard: ['2', '3'] },
    { query: { from: number(0), to: number(1) }, heard: [] },
    {
      query: { from: { kind: 'tag', tag: 'latest' }, to: { kind: 'tag', tag: 'pending' } },
      heard: ['2', '3', '4'],
    },
    { query: { from: { kind: 'tag', tag: 'earliest' } }, heard: ['2', '3', '4'] },
  ])('returns logs of blocks 2 to 4 with $query: $heard', async ({ query, heard }) => {
    const { chain, filters } = started()
    const id = filters.addLogFilter({ ...anything, ...query })
    await setTree(chain, extend(base, oneLog, oneLog, oneLog))
    expect(await polled(filters, id)).toEqual(heard)
  })

  test('goes on after a revert below the block where it was made', async () => {
    const { chain, filters } = started()
    const id = filters.addLogFilter(anything)
    await setTree(chain, extend(truncateTo(base, 0n), { ...oneLog, salt: 1 }))
    expect(await polled(filters, id)).toEqual(['-1', '1'])
    expect(await stored(filters, id)).toEqual([1n])
  })

  test('returns all stored logs from its first block on, as often as requested', async () => {
    const { chain, filters } = started()
    const fromHere = filters.addLogFilter(anything)
    const fromGenesis = filters.addLogFilter({ ...anything, from: number(0), to: number(2) })
    await setTree(chain, extend(base, oneLog, oneLog))
    await polled(filters, fromHere)
    expect(await stored(filters, fromHere)).toEqual([1n, 2n, 3n])
    expect(await stored(filters, fromHere)).toEqual([1n, 2n, 3n])
    expect(await stored(filters, fromGenesis)).toEqual([1n, 2n])
  })

  test.each<{ query: Partial<LogQuery>; word: string; message: RegExp }>([
    {
      query: { from: number(3), to: number(2) },
      word: 'INVALID_PARAMS',
      message: /fromBlock 3 and toBlock 2/,
    },
    {
      query: { blockHash: word(1), to: number(2) },
      word: 'INVALID_PARAMS',
      message: /either blockHash/,
    },
    { query: { blockHash: word(1) }, word: 'NOT_FOUND', message: /block 0x0+1 not found/ },
  ])('is refused for $query', ({ query, word: expected, message }) => {
    const { filters } = started()
    const add = (): bigint => filters.addLogFilter({ ...anything, ...query })
    expect(add).toThrow(refusal(expected, message) as Error)
    expect(filters.has(1n)).toBe(false)
  })
})

describe('a block or transaction filter', () => {
  test('returns hashes of new blocks, and nothing of a revert', async () => {
    const { chain, filters } = started()
    const id = filters.addBlockFilter()
    const grown = extend(base, {}, {})
    await setTree(chain, grown)
    const hashes = [2, 3].map((at) => grown.canonical.at(at)?.block.hash)
    expect(filters.changes(id)).toEqual({ kind: 'blocks', hashes })
    await setTree(chain, base)
    expect(filters.changes(id)).toEqual({ kind: 'blocks', hashes: [] })
  })

  test('returns hashes of transactions that enter the pool', async () => {
    const { chain, filters } = started()
    const id = filters.addPendingFilter()
    const waiting = transactionOf('waiting')
    await setTree(chain, base, withTransaction(emptyPool, waiting))
    expect(filters.changes(id)).toEqual({ kind: 'transactions', hashes: [waiting.hash] })
  })

  test('has no stored logs', async () => {
    const { filters } = started()
    const id = filters.addBlockFilter()
    await expect(filters.logs(id)).rejects.toThrow(
      refusal('INVALID_PARAMS', /filter 0x1 is not a log filter/) as Error,
    )
  })
})

describe('a filter', () => {
  test('has an id from 1 on that is never used again', () => {
    const { filters } = started()
    const ids = [filters.addBlockFilter(), filters.addPendingFilter()]
    filters.remove(2n)
    expect([...ids, filters.addLogFilter(anything)]).toEqual([1n, 2n, 3n])
  })

  test('is gone once removed', () => {
    const { filters } = started()
    const id = filters.addBlockFilter()
    expect([filters.remove(id), filters.remove(id), filters.remove(77n)]).toEqual([
      true,
      false,
      false,
    ])
    expect(() => filters.changes(id)).toThrow(
      refusal('NOT_FOUND', /^filter 0x1 not found$/) as Error,
    )
  })

  test('times out without a poll, and lives on with one', () => {
    const { clock, filters } = started({ timeoutMs: 1000 })
    const [polledOne, forgotten] = [filters.addBlockFilter(), filters.addBlockFilter()]
    clock.nowMs += 900
    filters.changes(polledOne)
    clock.nowMs += 900
    expect(filters.changes(polledOne)).toEqual({ kind: 'blocks', hashes: [] })
    expect(() => filters.changes(forgotten)).toThrow(
      refusal('NOT_FOUND', /filter 0x2 not found/) as Error,
    )
    expect(filters.remove(forgotten)).toBe(false)
    expect(filters.has(polledOne)).toBe(true)
  })

  test('is refused beyond the limit, unless an expired one makes room', () => {
    const { clock, filters } = started({ filters: 2, timeoutMs: 1000 })
    filters.addBlockFilter()
    filters.addBlockFilter()
    const add = (): bigint => filters.addPendingFilter()
    expect(add).toThrow(refusal('LIMIT_EXCEEDED', /the limit is 2/) as Error)
    clock.nowMs += 1001
    expect(add()).toBe(3n)
  })

  test('drops what exceeds its limit, reports that once, and goes on', async () => {
    const { chain, filters } = started({ backlog: 3 })
    const id = filters.addBlockFilter()
    const grown = extend(base, {}, {})
    await setTree(chain, grown)
    const overfull = extend(grown, {}, {})
    await setTree(chain, overfull)
    expect(() => filters.changes(id)).toThrow(
      refusal('LIMIT_EXCEEDED', /filter 0x1 missed changes: more than 3/) as Error,
    )
    expect(filters.changes(id)).toEqual({ kind: 'blocks', hashes: [] })
    const next = extend(overfull, {})
    await setTree(chain, next)
    expect(filters.changes(id)).toMatchObject({ hashes: [next.canonical.at(6)?.block.hash] })
  })

  test('gets nothing after the chain is closed', async () => {
    const { bugs, chain, filters } = started()
    const id = filters.addBlockFilter()
    chain.close()
    await setTree(chain, extend(base, {}))
    expect(() => filters.changes(id)).toThrow(refusal('NOT_FOUND', /not found/) as Error)
    expect(bugs).toEqual([])
  })
})

describe('one of many filters', () => {
  test('shares what it filters: 1,000 of them keep 20,000 blocks once', async () => {
    const chain = await testChain({})
    const filters = new Filters(chain)
    const ids = Array.from({ length: 1_000 }, () => filters.addBlockFilter())
    const quiet = [filters.addPendingFilter(), filters.addLogFilter(anything)]
    const before = usedBytes()
    await chain.update((state) =>
      mine(chain.executor, state, { now: NOON, blocks: 20_000n, bulk: chain.execution.bulk }),
    )
    // a list for each had 2 GB
    expect(usedBytes() - before).toBeLessThan(100_000_000)
    const { canonical } = chain.state.tree
    for (const id of [ids[0]!, ids[999]!]) {
      const { hashes } = (await filters.changes(id)) as { hashes: readonly Hash[] }
      expect(hashes).toHaveLength(20_000)
      for (const at of [0, 4_444, 19_999]) expect(hashes[at]).toBe(canonical.hashAt(at + 1))
    }
    expect(await Promise.all(quiet.map((id) => filters.changes(id)))).toEqual([
      { kind: 'transactions', hashes: [] },
      { kind: 'logs', logs: [] },
    ])
  })

  test('keeps nothing of a run beyond its limit', async () => {
    const chain = await testChain({})
    const filters = new Filters(chain)
    const ids = Array.from({ length: 10_000 }, () => filters.addBlockFilter())
    const before = usedBytes()
    await chain.update((state) =>
      mine(chain.executor, state, { now: NOON, blocks: 2_000_000n, bulk: chain.execution.bulk }),
    )
    expect(usedBytes() - before).toBeLessThan(20_000_000)
    for (const id of [ids[0]!, ids[9_999]!]) {
      expect(() => filters.changes(id)).toThrow(/missed changes: more than 100000 came/)
      expect(filters.changes(id)).toEqual({ kind: 'blocks', hashes: [] })
    }
  })

  test('lets others have their turn while it searches much', async () => {
    const { chain, filters } = started()
    const wanted = Array.from({ length: 1_000 }, (_, at) => word(0x1000 + at))
    const id = filters.addLogFilter({ ...anything, topics: [[...wanted, word(0xb)]] })
    const logs = [...Array.from({ length: 10_000 }, () => logOf(1, 0xa)), logOf(1, 0xb)]
    await setTree(chain, extend(base, { transactions: [{ logs }] }))
    using others = countTurns()
    expect(await polled(filters, id)).toEqual(['2'])
    expect(others.count()).toBeGreaterThan(0)
  })

  test('reports the number of logs of abandoned blocks that it keeps, and goes on', async () => {
    const { chain, filters } = started({ backlog: 3 })
    const id = filters.addLogFilter({ ...anything, topics: [[word(0xb)]] })
    for (let salt = 0; salt < 4; salt++) {
      await setTree(chain, extend(base, { ...oneLog, salt }))
      await setTree(chain, base)
    }
    expect(() => filters.changes(id)).toThrow(
      /missed changes: more than 3 logs of abandoned blocks or 1000000 blocks with logs came/,
    )
    await setTree(chain, extend(base, { transactions: [{ logs: [logOf(1, 0xb)] }] }))
    expect(await polled(filters, id)).toEqual(['2'])
  })
})
