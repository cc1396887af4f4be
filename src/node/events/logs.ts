// Searches stored logs for matches of a filter.

import { DevchainError } from '../../core/errors.ts'
import { type Address, EMPTY_BYTES, type Hash } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { PIECE } from '../../core/persistent.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { collect, nextTurn, yielder } from '../../core/yield.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import { bloomOf, type Log, mergeBlooms } from '../../protocol/blocks/receipt.ts'
import type { Chain } from '../chain/chain.ts'
import {
  type BlockRecord,
  type LogBlock,
  type LoggedBlock,
  loggedIn,
} from '../ledger/blockrecord.ts'
import { blockNotFound, headOf } from '../ledger/blocktree.ts'
import type { CanonicalChain } from '../ledger/canonicalchain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import { DECODED_BLOCKS, KeptRecord, logsBloomOf } from '../ledger/packing/keptrecord.ts'
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

export function logsOf(record: Pick<BlockRecord, 'block' | 'executed'>): LogEntry[] {
  const entries: LogEntry[] = []
  addEntries(entries, loggedIn(record))
  return entries
}

function addEntries(
  entries: LogEntry[],
  { block, logged }: LoggedBlock,
  isWanted?: (log: Log) => boolean,
): void {
  let logIndex = 0
  logged.forEach(({ transaction, receipt }, transactionIndex) => {
    const transactionHash = transaction.hash
    for (const log of receipt.logs) {
      if (isWanted === undefined || isWanted(log)) {
        entries.push({ log, block, transactionHash, transactionIndex, logIndex, removed: false })
      }
      logIndex += 1
    }
  })
}

/** A wildcard also matches a missing topic, so nulls at the end of `topics` change nothing (spec 2.6). */
export function matches(
  { addresses, topics }: Pick<LogQuery, 'addresses' | 'topics'>,
  log: Log,
): boolean {
  if (addresses.length > 0 && !addresses.includes(log.address)) return false
  return topics.every((alternatives, position) => {
    const topic = log.topics[position]
    return isWildcard(alternatives) || (topic !== undefined && alternatives.includes(topic))
  })
}

/** The test has no false negatives. It hashes once, not for each block. */
export function bloomTest({
  addresses,
  topics,
}: Pick<LogQuery, 'addresses' | 'topics'>): (bloom: Uint8Array) => boolean {
  const groups = [addresses, ...topics].flatMap((alternatives) =>
    isWildcard(alternatives) ? [] : [alternatives.map(bloomBits)],
  )
  return (bloom) => groups.every((group) => group.some((bits) => hasBits(bloom, bits)))
}

/** The bits that a value sets in a bloom: in at most three bytes. */
type BloomBits = readonly { readonly at: number; readonly mask: number }[]

function bloomBits(value: Address | Hash): BloomBits {
  const bloom = bloomOf([{ address: value as Address, topics: [], data: EMPTY_BYTES }])
  return [...bloom].map((mask, at) => ({ at, mask })).filter(({ mask }) => mask !== 0)
}

function hasBits(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every(({ at, mask }) => (bloom[at]! & mask) === mask)
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
  return whenThere(collect(matchingLogs(state, query, pending), limit, yieldIfDue), (found) => {
    if (found !== undefined) return found
    const message = `the query matches more than ${limit} logs: ask for fewer blocks at a time`
    throw new DevchainError('LIMIT_EXCEEDED', message, { limit })
  })
}

/** Transactions that are searched before other work may get a turn. */
const IN_A_ROW = 64

/** In pieces, of which those searched in vain are empty. */
function* matchingLogs(
  state: ChainState,
  query: LogQuery,
  pending: BlockRecord | undefined,
): Generator<readonly LogEntry[]> {
  const search = {
    mayMatch: bloomTest(query),
    isWanted: (log: Log): boolean => matches(query, log),
    read: 0,
  }
  for (const records of recordsOf(state, query, search.mayMatch, pending)) {
    let at = 0
    do {
      const found: LogEntry[] = []
      at = addMatches(found, records, at, search)
      const isPending = pending !== undefined && records[0] === pending
      yield isPending ? found.map((entry) => ({ ...entry, pending: true })) : found
    } while (at < records.length)
  }
}

interface RecordSearch {
  readonly mayMatch: (bloom: Uint8Array) => boolean
  readonly isWanted: (log: Log) => boolean
  /** Blocks that were read. */
  read: number
}

/** No generator, which V8 optimizes late. @returns the index of the next record */
function addMatches(
  found: LogEntry[],
  records: readonly BlockRecord[],
  start: number,
  search: RecordSearch,
): number {
  let at = start
  for (let searched = 0; at < records.length && searched < IN_A_ROW; at++) {
    const record = records[at]!
    if (!search.mayMatch(logsBloomOf(record))) continue
    const logged = KeptRecord.logged(record, search.read++ < DECODED_BLOCKS)
    searched += logged.logged.length
    addEntries(found, logged, search.isWanted)
  }
  return at
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
    throw new DevchainError('INVALID_PARAMS', message)
  }
  recordByHash(state, blockHash)
}

/** Those of a piece of the chain together; none where it has no match. The pending one comes alone. */
function* recordsOf(
  state: ChainState,
  query: LogQuery,
  mayMatch: (bloom: Uint8Array) => boolean,
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
    (piece) => piece.length < PIECE || mayMatch(bloomOfPiece(piece)),
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
    throw new DevchainError('INVALID_PARAMS', message)
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
