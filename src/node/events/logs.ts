// Searches stored logs for matches of a filter.
import { DevchainError, invalidParams } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { PIECE } from '../../core/persistent.ts'
import type { MaybePromise } from '../../core/promises.ts'
import { nextTurn, yielder } from '../../core/yield.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import { type BloomTest, bloomTest, mayHave, mergeBlooms } from '../../protocol/blocks/bloom.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockRecord, LogBlock, LoggedBlock } from '../ledger/blockrecord.ts'
import { blockNotFound, headOf } from '../ledger/blocktree.ts'
import type { CanonicalChain } from '../ledger/canonicalchain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import {
  DECODED_BLOCKS,
  KeptRecord,
  logsBloomOf,
  recordMayHave,
} from '../ledger/packing/keptrecord.ts'
import { type BlockReference, numberOfTag } from '../ledger/references.ts'

/** Default limit of logs in one result. */
export const MAX_LOGS = 100_000

export interface LogQuery {
  /** First block; undefined for `latest`. */
  readonly from?: BlockReference | undefined
  /** Last block, included; undefined for `latest`. */
  readonly to?: BlockReference | undefined
  readonly blockHash?: Hash | undefined
  /** Emitters; empty matches any. */
  readonly addresses: readonly Address[]
  /** By position: null or no alternatives match anything, else any of the alternatives. */
  readonly topics: readonly TopicFilter[]
  /** Topics that a log has at least, as wildcards at the end ask for in most nodes; by default they ask for none. */
  readonly leastTopics?: number | undefined
}

export type TopicFilter = readonly Hash[] | null

export interface LogEntry {
  readonly log: Log
  readonly block: LogBlock
  readonly transactionHash: Hash
  readonly transactionIndex: number
  readonly logIndex: number
  readonly removed: boolean
  /** The block is the pending one: clients see null positions. */
  readonly pending?: boolean
}

export function logsOf(record: LoggedBlock): LogEntry[] {
  const entries: LogEntry[] = []
  addEntries(entries, record)
  return entries
}

function addEntries(entries: LogEntry[], { block, executed }: LoggedBlock, query?: LogQuery): void {
  let [logIndex, transactionIndex] = [0, 0]
  for (const { transaction, receipt } of executed) {
    const transactionHash = transaction.hash
    for (const log of receipt.logs) {
      if (query === undefined || matches(query, log)) {
        entries.push({ log, block, transactionHash, transactionIndex, logIndex, removed: false })
      }
      logIndex += 1
    }
    transactionIndex += 1
  }
}

function addPending(entries: LogEntry[], block: LoggedBlock, query: LogQuery): void {
  const added: LogEntry[] = []
  addEntries(added, block, query)
  for (const entry of added) entries.push({ ...entry, pending: true })
}

/** A wildcard also matches a missing topic, so nulls at the end of `topics` change nothing (spec 2.6). */
export function matches(
  { addresses, topics, leastTopics = 0 }: Pick<LogQuery, 'addresses' | 'topics' | 'leastTopics'>,
  log: Log,
): boolean {
  if (log.topics.length < leastTopics) return false
  if (addresses.length > 0 && !addresses.includes(log.address)) return false
  return topics.every((alternatives, position) => {
    const topic = log.topics[position]
    return isWildcard(alternatives) || (topic !== undefined && alternatives.includes(topic))
  })
}

export function bloomTestOf({
  addresses,
  topics,
}: Pick<LogQuery, 'addresses' | 'topics'>): BloomTest {
  return bloomTest([addresses, ...topics].flatMap((each) => (isWildcard(each) ? [] : [each])))
}

function isWildcard(
  alternatives: readonly Address[] | TopicFilter,
): alternatives is null | readonly [] {
  return alternatives === null || alternatives.length === 0
}

/**
 * Oldest first, in turns if the search is long. A range beyond the newest block is empty.
 * @param pending the pending block, if the range reaches it; without it `pending` means the newest block
 * @throws {DevchainError} `NOT_FOUND` for an unknown block hash, `INVALID_PARAMS` for a range that ends before it
 *   begins or comes with a block hash, `LIMIT_EXCEEDED` when more than `limit` logs match, `CANCELLED`
 */
export function queryLogs(
  state: ChainState,
  query: LogQuery,
  limit: number = MAX_LOGS,
  pending?: BlockRecord,
  cancellation?: Cancellation,
): MaybePromise<LogEntry[]> {
  const yieldIfDue = yielder(undefined, async () => {
    await nextTurn()
    throwIfCancelled(cancellation)
  })
  const test = bloomTestOf(query)
  const pieces = recordsOf(state, query, test, pending)
  const found = listOfEntries()
  let [decoded, searched] = [0, 0]
  // one loop and no generators, which V8 optimizes late
  const goOn = (first: readonly BlockRecord[], start: number): MaybePromise<LogEntry[]> => {
    for (let records = first, at = start; ; at++) {
      if (at >= records.length) {
        const next = pieces.next()
        if (next.done === true) return found
        records = next.value
        at = 0
        searched += 1
      }
      const record = records[at]
      if (record !== undefined && recordMayHave(record, test)) {
        const logged = KeptRecord.logged(record, decoded++ < DECODED_BLOCKS)
        if (record === pending) addPending(found, logged, query)
        else addEntries(found, logged, query)
        if (found.length > limit) throw tooMany(limit)
        searched += logged.executed.length
      }
      if (searched < IN_A_ROW) continue
      searched = 0
      const pause = yieldIfDue()
      if (pause !== undefined) return pause.then(() => goOn(records, at + 1))
    }
  }
  return goOn([], 0)
}

/** V8 makes an empty list one of small integers, and compiles what fills it again for each of the first searches. */
function listOfEntries(): LogEntry[] {
  const entries: (LogEntry | undefined)[] = [undefined]
  entries.pop()
  return entries as LogEntry[]
}

/** Transactions, or pieces without a match, that are searched before other work may get a turn. */
const IN_A_ROW = 64

function tooMany(limit: number): DevchainError {
  const message = `the query matches more than ${limit} logs: ask for fewer blocks at a time`
  return new DevchainError('LIMIT_EXCEEDED', message, { limit })
}

interface LogSearch {
  readonly limit?: number
  readonly cancellation?: Cancellation | undefined
}

/** As `queryLogs` on the present chain, with the pending block if the range reaches it. */
export async function findLogs(
  chain: Chain,
  query: LogQuery,
  { limit = MAX_LOGS, cancellation }: LogSearch = {},
): Promise<LogEntry[]> {
  const reachesPending = isPending(query.from) || isPending(query.to)
  const pending = reachesPending ? await chain.pending(cancellation) : undefined
  const { state } = chain
  // a block mined meanwhile holds the pending transactions
  const isNext = pending?.block.header.parentHash === headOf(state.tree).block.hash
  return queryLogs(state, query, limit, isNext ? pending : undefined, cancellation)
}

export function checkQuery(state: ChainState, query: LogQuery): void {
  const { from, to, blockHash } = query
  if (blockHash === undefined) {
    rangeOf(state, query, headOf(state.tree).block.header.number + 1n)
    return
  }
  if (from !== undefined || to !== undefined) {
    const message = `blockHash ${blockHash}: expected either blockHash or fromBlock and toBlock, got both`
    throw invalidParams(message)
  }
  recordByHash(state, blockHash)
}

/** Those of a piece of the chain together; none where it has no match. The pending one comes alone. */
function* recordsOf(
  state: ChainState,
  query: LogQuery,
  test: BloomTest,
  pending: BlockRecord | undefined,
): Generator<readonly BlockRecord[]> {
  checkQuery(state, query)
  if (query.blockHash !== undefined) {
    yield [recordByHash(state, query.blockHash)]
    return
  }
  const { canonical } = state.tree
  const end = pending?.block.header.number ?? BigInt(canonical.length) - 1n
  const [from, to] = rangeOf(state, query, end)
  yield* canonical.search(
    indexOf(canonical, from),
    indexOf(canonical, to + 1n),
    // a piece that still grows has no bloom yet
    (piece) => piece.length < PIECE || mayHave(test, bloomOfPiece(piece)),
  )
  if (pending !== undefined && from <= end && end <= to) yield [pending]
}

function indexOf({ length }: CanonicalChain, number: bigint): number {
  return number < BigInt(length) ? Number(number) : length
}

/**
 * The bloom of 32 blocks, so that searching 50,000 blocks checks 1,600; a copy, as it may be that of one. Cached by the arrays
 * of the block list, so that entries go with the last list that has them.
 */
const bloomOfPiece = memoizeByIdentity((piece: readonly BlockRecord[]) =>
  mergeBlooms(piece.map(logsBloomOf)).slice(),
)

/** Open ranges beyond the newest block are empty; other backward ranges fail unless the chain behaves otherwise. */
function rangeOf(state: ChainState, { from, to }: LogQuery, pending: bigint): [bigint, bigint] {
  const first = numberOf(state, from, pending)
  const last = numberOf(state, to, pending)
  const beyondHead = first > headOf(state.tree).block.header.number && to?.kind !== 'number'
  if (first > last && !beyondHead && !state.config.behaviour.backwardRangesAreEmpty) {
    const message = `expected a range of blocks that ends after it begins, got fromBlock ${first} and toBlock ${last}`
    throw invalidParams(message)
  }
  return [first, last]
}

function numberOf(
  state: ChainState,
  reference: BlockReference | undefined,
  pending: bigint,
): bigint {
  if (reference?.kind === 'number') return reference.number
  if (reference?.kind === 'hash') return recordByHash(state, reference.hash).block.header.number
  if (reference?.tag === 'pending') return pending
  return numberOfTag(state, reference?.tag ?? 'latest')
}

function recordByHash(state: ChainState, hash: Hash): BlockRecord {
  const record = knownBlock(state, hash)
  if (record !== undefined) return record
  throw blockNotFound(state.tree, `block ${hash}`, { hash })
}

function isPending(reference: BlockReference | undefined): boolean {
  return reference?.kind === 'tag' && reference.tag === 'pending'
}
