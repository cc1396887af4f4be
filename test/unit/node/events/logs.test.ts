// Which logs a query finds.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesFromHex, type Hash } from '../../../../src/core/hex.ts'
import { createExecutor } from '../../../../src/evm/run/lazyexecutor.ts'
import {
  bloomTestOf,
  findLogs,
  type LogQuery,
  logsOf,
  matches,
  queryLogs,
} from '../../../../src/node/events/logs.ts'
import { treeFrom } from '../../../../src/node/ledger/blocktree.ts'
import type { BlockReference } from '../../../../src/node/ledger/references.ts'
import { emptyPool, withTransaction } from '../../../../src/node/pool/pool.ts'
import { bloomOf, mayHave } from '../../../../src/protocol/blocks/bloom.ts'
import type { Log } from '../../../../src/protocol/blocks/receipt.ts'
import { emptyWorld, withCode } from '../../../../src/state/world.ts'
import { countTurns, slowClock } from '../../../support/waiting/turns.ts'
import {
  addressOf,
  chainOf,
  logOf,
  recordOf,
  stateOf,
  transactionOf,
  treeOf,
  word,
} from '../records.ts'

const [A, B, C] = [word(0xa), word(0xb), word(0xc)]
const anything: LogQuery = { addresses: [], topics: [] }
const number = (value: number): BlockReference => ({ kind: 'number', number: BigInt(value) })
const tag = (name: 'latest' | 'earliest' | 'pending' | 'safe' | 'finalized'): BlockReference => ({
  kind: 'tag',
  tag: name,
})

/** Blocks 1 to 3: two logs in two transactions, none, one log. */
const tree = treeOf(
  { transactions: [{ logs: [logOf(1, 0xa)] }, {}, { logs: [logOf(2, 0xa, 0xb), logOf(1)] }] },
  {},
  { transactions: [{ logs: [logOf(1, 0xc)] }] },
)
const state = stateOf(tree)

/** Where the logs that a query finds stand: block/transaction/log. */
async function places(query: Partial<LogQuery>): Promise<string[]> {
  const found = await queryLogs(state, { ...anything, ...query })
  return found.map(
    ({ block, transactionIndex, logIndex }) =>
      `${block.header.number}/${transactionIndex}/${logIndex}`,
  )
}

describe('matches', () => {
  test.each<{ topics: LogQuery['topics']; log: Log; found: boolean; because: string }>([
    { topics: [], log: logOf(1), found: true, because: 'an empty list matches anything' },
    { topics: [[A]], log: logOf(1, 0xa, 0xb), found: true, because: 'anything may follow' },
    { topics: [[A]], log: logOf(1, 0xb, 0xa), found: false, because: 'the position counts' },
    { topics: [[A]], log: logOf(1), found: false, because: 'the log has no such topic' },
    { topics: [null, [B]], log: logOf(1, 0xa, 0xb), found: true, because: 'null is anything' },
    { topics: [null, [B]], log: logOf(1, 0xb), found: false, because: 'B must be second' },
    { topics: [[A], [B]], log: logOf(1, 0xa, 0xb, 0xc), found: true, because: 'both match' },
    {
      topics: [
        [A, B],
        [A, B],
      ],
      log: logOf(1, 0xb, 0xa),
      found: true,
      because: 'either, twice',
    },
    {
      topics: [
        [A, B],
        [A, B],
      ],
      log: logOf(1, 0xb, 0xc),
      found: false,
      because: 'C is neither',
    },
    { topics: [[], [B]], log: logOf(1, 0xc, 0xb), found: true, because: 'no alternatives: any' },
    { topics: [null], log: logOf(1), found: true, because: 'nulls at the end change nothing' },
    { topics: [null, null, null, null, null], log: logOf(1), found: true, because: 'nor five' },
  ])('$topics against $log.topics: $found, because $because', ({ topics, log, found }) => {
    expect(matches({ addresses: [], topics }, log)).toBe(found)
  })

  test('topics as a matcher that tries every combination', () => {
    const topic = fc.constantFrom(A, B, C)
    const log = fc.array(topic, { maxLength: 4 })
    const wanted = fc.array(fc.option(fc.array(topic, { maxLength: 2 })), { maxLength: 5 })
    fc.assert(
      fc.property(log, wanted, (topics, filter) => {
        const found = matches({ addresses: [], topics: filter }, { ...logOf(1), topics })
        expect(found).toBe(combinations(filter).some((each) => isCovered(each, topics)))
      }),
    )
  })
})

/** Every list that takes one alternative for each position; null takes whatever there is. */
function combinations(filter: readonly (readonly Hash[] | null)[]): (Hash | null)[][] {
  return filter.reduce<(Hash | null)[][]>(
    (lists, alternatives) => {
      const choices = alternatives === null || alternatives.length === 0 ? [null] : alternatives
      return lists.flatMap((list) => choices.map((choice) => [...list, choice]))
    },
    [[]],
  )
}

function isCovered(wanted: readonly (Hash | null)[], topics: readonly Hash[]): boolean {
  return wanted.every((topic, i) => topic === null || topic === topics[i])
}

describe('matches addresses', () => {
  test.each([
    { addresses: [], found: true },
    { addresses: [addressOf(1)], found: true },
    { addresses: [addressOf(2), addressOf(1)], found: true },
    { addresses: [addressOf(2)], found: false },
  ])('$addresses on a log of 0x..01: $found', ({ addresses, found }) => {
    expect(matches({ addresses, topics: [] }, logOf(1, 0xa))).toBe(found)
  })
})

describe('bloomTestOf', () => {
  const small = fc.integer({ min: 0, max: 40 })
  const log = fc.tuple(small, fc.array(small, { maxLength: 4 })).map(([a, t]) => logOf(a, ...t))
  const query = fc.record({
    addresses: fc.array(small.map(addressOf), { maxLength: 2 }),
    topics: fc.array(fc.option(fc.array(small.map(word), { maxLength: 2 })), { maxLength: 4 }),
  })

  test('never rules out a block with a log that matches', () => {
    fc.assert(
      fc.property(fc.array(log, { maxLength: 5 }), query, (logs, wanted) => {
        const holds = logs.some((each) => matches(wanted, each))
        fc.pre(holds)
        expect(mayHave(bloomTestOf(wanted), bloomOf(logs))).toBe(true)
      }),
    )
  })

  test('rules out a block without logs for any specific address or topic', () => {
    const empty = bloomOf([])
    expect(mayHave(bloomTestOf({ addresses: [addressOf(1)], topics: [] }), empty)).toBe(false)
    expect(mayHave(bloomTestOf({ addresses: [], topics: [null, [A, B]] }), empty)).toBe(false)
    expect(mayHave(bloomTestOf({ addresses: [], topics: [null, []] }), empty)).toBe(true)
  })
})

describe('queryLogs over a range', () => {
  test.each<{ name: string; query: Partial<LogQuery>; found: string[] }>([
    { name: 'left out is the newest block', query: {}, found: ['3/0/0'] },
    {
      name: 'counts logs over the block',
      query: { from: number(1), to: number(1) },
      found: ['1/0/0', '1/2/1', '1/2/2'],
    },
    {
      name: 'by tags',
      query: { from: tag('earliest'), to: tag('latest') },
      found: ['1/0/0', '1/2/1', '1/2/2', '3/0/0'],
    },
    {
      name: 'safe and finalized are latest',
      query: { from: tag('safe'), to: tag('finalized') },
      found: ['3/0/0'],
    },
    { name: 'ends at the head', query: { from: number(2), to: number(99) }, found: ['3/0/0'] },
    { name: 'begins after the head: nothing yet', query: { from: number(4) }, found: [] },
    { name: 'wholly after the head', query: { from: number(10), to: number(20) }, found: [] },
    { name: 'by address', query: { from: number(0), addresses: [addressOf(2)] }, found: ['1/2/1'] },
    { name: 'by topic', query: { from: number(0), topics: [[A]] }, found: ['1/0/0', '1/2/1'] },
    {
      name: 'one block by hash',
      query: { blockHash: blockHash(1), topics: [[A]] },
      found: ['1/0/0', '1/2/1'],
    },
  ])('is right: $name', async ({ query, found }) => {
    expect(await places(query)).toEqual(found)
  })

  test.each<{ name: string; query: Partial<LogQuery>; word: string; message: RegExp }>([
    {
      name: 'ends before it begins',
      query: { from: number(3), to: number(1) },
      word: 'INVALID_PARAMS',
      message: /fromBlock 3 and toBlock 1/,
    },
    {
      name: 'begins at latest and ends earlier',
      query: { to: number(1) },
      word: 'INVALID_PARAMS',
      message: /fromBlock 3 and toBlock 1/,
    },
    {
      name: 'ends before it begins, after the head',
      query: { from: number(30), to: number(10) },
      word: 'INVALID_PARAMS',
      message: /fromBlock 30 and toBlock 10/,
    },
    {
      name: 'comes with a block hash',
      query: { blockHash: blockHash(1), from: number(1) },
      word: 'INVALID_PARAMS',
      message: /either blockHash or fromBlock and toBlock/,
    },
    {
      name: 'is an unknown hash',
      query: { blockHash: word(7) },
      word: 'NOT_FOUND',
      message: /block 0x0+7 not found: the newest block is 3/,
    },
  ])('is refused when the range $name', async ({ query, word: expected, message }) => {
    await expect(places(query)).rejects.toThrow(
      expect.objectContaining({ word: expected, message: expect.stringMatching(message) }),
    )
  })

  test('includes the pending block only on request, and marks its logs', async () => {
    const pending = recordOf(4n, blockHash(3), { transactions: [{ logs: [logOf(9)] }] })
    const find = async (query: Partial<LogQuery>): Promise<(bigint | boolean)[]> =>
      (await queryLogs(state, { ...anything, ...query }, 100, pending)).map(
        ({ block, pending: mark }) => mark ?? block.header.number,
      )
    expect(await find({ from: number(3), to: tag('pending') })).toEqual([3n, true])
    expect(await find({ from: tag('pending'), to: tag('pending') })).toEqual([true])
    expect(await find({ from: tag('latest'), to: tag('latest') })).toEqual([3n])
  })
})

test('queryLogs lets others have turns during a long search', async () => {
  const blocks = Array.from({ length: 1_000 }, () => ({ transactions: [{ logs: [logOf(1)] }] }))
  const long = stateOf(treeOf(...blocks))
  using _time = slowClock(5)
  using others = countTurns()
  expect(await queryLogs(long, { ...anything, from: number(0) })).toHaveLength(1_000)
  expect(others.count()).toBeGreaterThan(5)
})

test('queryLogs ends a long search once its client is gone', async () => {
  const blocks = Array.from({ length: 1_000 }, () => ({ transactions: [{ logs: [logOf(1)] }] }))
  const long = stateOf(treeOf(...blocks))
  using _time = slowClock(5)
  const gone = { aborted: true }
  const search = queryLogs(long, { ...anything, from: number(0) }, 1_000, undefined, gone)
  await expect(search).rejects.toThrow(expect.objectContaining({ word: 'CANCELLED' }))
})

describe('queryLogs with a limit', () => {
  test('returns up to that many logs', async () => {
    expect(await queryLogs(state, { ...anything, from: number(1) }, 4)).toHaveLength(4)
  })

  test('names the limit when more match', async () => {
    await expect(async () => queryLogs(state, { ...anything, from: number(1) }, 3)).rejects.toThrow(
      expect.objectContaining({
        word: 'LIMIT_EXCEEDED',
        message: expect.stringContaining('more than 3 logs'),
      }),
    )
  })
})

test('logsOf gives each log of a block its indexes, and none is removed', () => {
  const record = recordOf(5n, word(4), {
    transactions: [{ logs: [logOf(1)] }, { logs: [logOf(2)] }],
  })
  const { block } = record
  const [one, two] = block.transactions.map((each) => ({
    block,
    transactionHash: each.hash,
  }))
  expect(logsOf(record)).toEqual([
    { ...one, log: logOf(1), transactionIndex: 0, logIndex: 0, removed: false },
    { ...two, log: logOf(2), transactionIndex: 1, logIndex: 1, removed: false },
  ])
})

function blockHash(at: number): Hash {
  return tree.canonical.at(at)?.block.hash ?? word(0)
}

test('queryLogs finds logs of waiting transactions only in a range that includes pending', async () => {
  const emitter = addressOf(0x300)
  // PUSH1 0 PUSH1 0 LOG0 STOP
  const world = withCode(emptyWorld, emitter, bytesFromHex('0x60006000a000'))
  const waiting = { ...transactionOf('waiting'), to: emitter, gasLimit: 100_000n }
  const genesis = { ...recordOf(0n, word(0)), world }
  const waits = stateOf(treeFrom(genesis), { pool: withTransaction(emptyPool, waiting) })
  const { chain } = chainOf(waits, createExecutor())
  expect(await findLogs(chain, { ...anything, from: number(0) })).toEqual([])
  expect(await findLogs(chain, { ...anything, from: number(0), to: tag('pending') })).toMatchObject(
    [{ log: { address: emitter, topics: [] }, transactionIndex: 0, logIndex: 0, pending: true }],
  )
  expect(chain.state).toBe(waits)
})
