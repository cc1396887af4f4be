// eth: filters, queries of stored logs, and subscriptions over WebSocket, which some nodes also offer for polling.
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { listed, plural, short } from '../../core/format.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { BlockLogs } from '../../node/events/changes.ts'
import { type FilterChanges, wantedLogs } from '../../node/events/filters.ts'
import { checkQuery, findLogs, type LogEntry, type LogQuery } from '../../node/events/logs.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { SyncStatus } from '../../node/peers.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { JsonText, longList } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, enumeration, hash, list, nullable, quantity, text } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid, type Json, type Notes } from '../../rpc/schema.ts'
import type { Session } from '../../rpc/session.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import {
  type Selection,
  type Selector,
  type SubscriptionKind,
  syncChange,
} from '../common/subscriptions.ts'
import { viewOfReceipt } from '../common/views.ts'
import type { Profile } from '../compat/profile.ts'
import { logQuery } from '../wire/decodelogquery.ts'
import { members } from '../wire/decodeobject.ts'
import { headerShape, viewOfBlock } from '../wire/encodeblock.ts'
import { field, quantityResult, shape } from '../wire/encodeobject.ts'
import { logShape, logsShape, receiptShape } from '../wire/encodereceipt.ts'
import { transactionShape, viewOfPooled } from '../wire/encodetransaction.ts'

const EXAMPLE_QUERY = { fromBlock: '0x0', toBlock: 'latest', topics: [] }

/** With more in a reply, a cache would lose the bytes of each before they are asked for again. */
const MOST_CACHED = 8_192

export function answerLogs(
  { bytesOfLog }: Pick<MethodContext, 'bytesOfLog'>,
  entries: readonly LogEntry[],
): MaybePromise<readonly LogEntry[] | JsonText> {
  const isCached = bytesOfLog !== undefined && entries.length <= MOST_CACHED
  return longList(
    entries,
    logShape,
    isCached ? (some) => Buffer.concat(some.map(bytesOfLog)) : undefined,
  )
}

const changes: Encoder<FilterChanges> = {
  name: 'changes',
  noun: 'change',
  json: { type: 'array', items: { anyOf: [logShape.json, hash.json] } },
  encode: (found) =>
    found.kind === 'logs' ? found.logs.map(logShape.encode) : found.hashes.map(hash.encode),
}

/** Transaction hashes per receipt subscription, as in geth. */
const MAX_HASHES = 200

/** The second parameter: a log filter, whether pending transactions come in full, or the hashes whose receipts are wanted. */
interface Details {
  readonly query: LogQuery
  readonly bodies: boolean
  /** Empty: all. */
  readonly hashes: ReadonlySet<Hash>
  readonly given: 'nothing' | 'a boolean' | 'an object' | 'transaction hashes'
}

/** Allowed details of each kind, in types and words. */
const DETAILS: Record<SubscriptionKind, readonly [Details['given'], string]> = {
  newHeads: ['nothing', 'nothing'],
  logs: ['an object', 'a filter'],
  newPendingTransactions: ['a boolean', 'true or false'],
  transactionReceipts: ['transaction hashes', 'transaction hashes'],
  changes: ['nothing', 'nothing'],
  calls: ['nothing', 'nothing'],
  syncing: ['nothing', 'nothing'],
}

const KINDS = Object.keys(DETAILS) as SubscriptionKind[]

const NOTHING: Details = {
  query: { addresses: [], topics: [] },
  bodies: false,
  hashes: new Set(),
  given: 'nothing',
}

const receiptQuery = members('receipt filter', { transactionHashes: list(hash) })

const details: Decoder<Details> = {
  name: 'details',
  json: { anyOf: [{ type: 'boolean' }, logQuery.json, receiptQuery.json] },
  decode: (value, path, notes) => {
    if (typeof value === 'boolean') return { ...NOTHING, bodies: value, given: 'a boolean' }
    const names = isObject(value) ? Object.keys(value) : undefined
    if (names?.length === 0) return NOTHING
    if (names?.includes('transactionHashes') === true) {
      return { ...NOTHING, hashes: hashesOf(value, path, notes), given: 'transaction hashes' }
    }
    return { ...NOTHING, query: logQuery.decode(value, path, notes), given: 'an object' }
  },
}

function hashesOf(value: unknown, path: string, notes?: Notes): ReadonlySet<Hash> {
  const { transactionHashes = [] } = receiptQuery.decode(value, path, notes)
  if (transactionHashes.length <= MAX_HASHES) return new Set(transactionHashes)
  throw invalid(`${path}.transactionHashes`, `at most ${MAX_HASHES}`, transactionHashes.length)
}

export const filterMethods: Methods = [
  method('eth_newFilter', {
    summary: 'Creates a filter of logs for eth_getFilterChanges.',
    params: [optional('filter', logQuery, { addresses: [], topics: [] })],
    result: quantityResult,
    example: { params: [EXAMPLE_QUERY], result: '0x1' },
    effects: 'node',
    describe: ([query], id) => `${queryText(query)}, filter ${id}`,
    handle: ({ filters, profile }, query) => {
      const { filterHistory } = profile
      const isNamed = filterHistory === 'named' && query.from !== undefined
      return filters.addLogFilter(
        asMeant(profile, query),
        filterHistory === 'all' || isNamed ? 'stored' : 'new',
      )
    },
  }),
  method('eth_newBlockFilter', {
    summary: 'Creates a filter of new blocks for eth_getFilterChanges.',
    result: quantityResult,
    example: { result: '0x1' },
    effects: 'node',
    describe: (_values, id) => `blocks, filter ${id}`,
    handle: addBlockFilter,
  }),
  method('eth_newPendingTransactionFilter', {
    summary: 'Creates a filter of pending transactions for eth_getFilterChanges.',
    result: quantityResult,
    example: { result: '0x1' },
    effects: 'node',
    describe: (_values, id) => `pending transactions, filter ${id}`,
    handle: ({ filters }) => filters.addPendingFilter(),
  }),
  method('eth_uninstallFilter', {
    summary: 'Deletes a filter; false if unknown.',
    params: [param('id', quantity)],
    result: boolean,
    example: { params: ['0x1'], result: false },
    effects: 'node',
    describe: ([id]) => `removed filter ${quantityFromBigint(id)}`,
    handle: ({ filters }, id) => filters.remove(id),
  }),
  method('eth_getFilterChanges', {
    summary: 'Returns what a filter saw since the last poll: logs, or hashes.',
    params: [param('id', quantity)],
    result: nullable(changes),
    example: { params: ['0x1'] },
    onFork: 'filterChanges',
    effects: 'node',
    handle: (context, id) => {
      if (isUnknown(context, id)) return null
      const { chain, caller, filters } = context
      const stored = filters.beginWith(id, (history) =>
        findLogs(chain, history, { cancellation: caller }),
      )
      return whenThere(stored, (before = []) => answerChanges(context, id, before))
    },
  }),
  method('eth_getFilterLogs', {
    summary: 'Returns all stored logs that match a log filter.',
    params: [param('id', quantity)],
    result: nullable(logsShape),
    example: { params: ['0x1'] },
    onFork: 'filterLogs',
    handle: async (context, id) =>
      isUnknown(context, id)
        ? null
        : answerLogs(context, await context.filters.logs(id, context.caller)),
  }),
  method('eth_getLogs', {
    summary: 'Returns the logs of a block or a range of blocks, by address and topics.',
    params: [optional('filter', logQuery, { addresses: [], topics: [] })],
    result: logsShape,
    example: { params: [EXAMPLE_QUERY], result: [] },
    onFork: 'logs',
    handle: async (context, query) => {
      const { chain, caller, profile } = context
      refuseFuture(chain, query, profile.logsBeyondHead)
      const logs = await findLogs(chain, asMeant(profile, query), { cancellation: caller })
      return answerLogs(context, logs)
    },
  }),
  method('eth_subscribe', {
    summary:
      'Subscribes this WebSocket to newHeads, logs, transactionReceipts, newPendingTransactions, changes, calls or syncing.',
    params: [param('kind', enumeration(KINDS)), optional('details', details, NOTHING)],
    result: text,
    example: { params: ['newHeads'] },
    effects: 'node',
    describe: ([kind, given], id) => `${subscriptionText(kind, given)}, id ${short(String(id))}`,
    handle: (context, kind, asked) => {
      const { caller, chain, peers, profile, subscriptions } = context
      const given = { ...asked, query: asMeant(profile, asked.query) }
      const { session } = caller
      const isIgnored = profile.filters === 'lenient' && kind === 'newPendingTransactions'
      if (!isIgnored || given.given !== 'an object') checkDetails(kind, given)
      if (kind === 'logs') checkQuery(chain.state, given.query)
      const polled = session === undefined ? polledInstead(context, kind, given) : undefined
      if (polled !== undefined) return quantityFromBigint(polled)
      const own = sessionOf(session)
      const id = subscriptions.add(own, chain, kind, subscriptionSelector(context, kind, given))
      if (kind === 'syncing') notifySyncing(own, id, peers.now?.syncing())
      return id
    },
  }),
  method('eth_unsubscribe', {
    summary: 'Ends a subscription of this WebSocket; false if unknown.',
    params: [param('id', text)],
    result: boolean,
    example: { params: ['0x5c77d9186aee7d5f253114a2bd833d9d'] },
    effects: 'node',
    describe: ([id]) => `ended ${short(id)}`,
    handle: ({ caller: { session }, chain, filters, profile, subscriptions }, id) =>
      session === undefined && profile.pollsSubscriptions
        ? /^0x[0-9a-f]+$/i.test(id) && filters.remove(BigInt(id))
        : subscriptions.remove(sessionOf(session), chain, id),
  }),
]

/** A log query in words: `logs of 0x…, by 2 topics`. */
export function queryText({ addresses, topics }: LogQuery): string {
  const count = topics.filter((each) => each !== null && each.length > 0).length
  const from = addresses.length === 0 ? '' : ` of ${listed(addresses)}`
  return `logs${from}${count === 0 ? '' : `, by ${plural(count, 'topic')}`}`
}

function asMeant({ wildcardsNeedTopics }: Profile, query: LogQuery): LogQuery {
  return wildcardsNeedTopics ? { ...query, leastTopics: query.topics.length } : query
}

/** A block filter, starting as in the profile's node. */
export function addBlockFilter({ chain, filters, profile }: MethodContext): bigint {
  const newest = profile.filters === 'lenient' ? headOf(chain.state.tree).block.hash : undefined
  return filters.addBlockFilter(newest)
}

/** True for an unknown filter, if the profile does not treat it as an error. */
function isUnknown({ filters, profile }: MethodContext, id: bigint): boolean {
  return profile.filters === 'lenient' && !filters.has(id)
}

/** @param before stored logs that come first */
function answerChanges(
  context: MethodContext,
  id: bigint,
  before: readonly LogEntry[],
): MaybePromise<FilterChanges | JsonText> {
  return whenThere<FilterChanges, FilterChanges | JsonText>(
    context.filters.changes(id),
    (found) => {
      if (found.kind !== 'logs') return found
      return whenThere(answerLogs(context, [...before, ...found.logs]), (logs) =>
        logs instanceof JsonText ? logs : { kind: 'logs', logs },
      )
    },
  )
}

/**
 * @param taken whether ranges may lie, or end, after the newest block
 * @throws {DevchainError} `INVALID_PARAMS` for a range that begins or ends after it, `NOT_FOUND` where only the end may
 */
function refuseFuture(
  { state }: Chain,
  { from, to }: LogQuery,
  taken: Profile['logsBeyondHead'],
): void {
  if (taken === 'all') return
  const head = headOf(state.tree).block.header.number
  const beyond = (reference: BlockReference | undefined): bigint | undefined =>
    reference?.kind === 'number' && reference.number > head ? reference.number : undefined
  const begin = beyond(from)
  if (begin !== undefined && taken === 'end') {
    const message = `block ${begin} not found: the newest block is ${head}`
    throw new DevchainError('NOT_FOUND', message, undefined, { number: begin })
  }
  const end = taken === 'none' ? beyond(to) : undefined
  if (end !== undefined) {
    const message = `block range extends beyond current head block: toBlock is ${end}, the newest is ${head}`
    throw invalidParams(message)
  }
  if (begin === undefined) return
  const message = `invalid block range params: fromBlock is ${begin}, the newest block is ${head}`
  throw invalidParams(message)
}

function subscriptionText(kind: SubscriptionKind, { query, bodies, hashes }: Details): string {
  if (kind === 'logs') return queryText(query)
  if (hashes.size > 0) return `receipts of ${plural(hashes.size, 'transaction')}`
  return bodies ? `${kind} with bodies` : kind
}

/** The filter that replaces a subscription without a WebSocket; undefined if there is none. */
function polledInstead(
  context: MethodContext,
  kind: SubscriptionKind,
  { query, bodies }: Details,
): bigint | undefined {
  const { filters, profile } = context
  if (!profile.pollsSubscriptions || bodies) return undefined
  if (kind === 'newHeads') return addBlockFilter(context)
  if (kind === 'logs') return filters.addLogFilter(query)
  return kind === 'newPendingTransactions' ? filters.addPendingFilter() : undefined
}

/** Any change of the chain's state, also one without a block: a balance that was set, a snapshot, a revert. Or of names alone. */
const changeShape = shape<StateChange>('change', {
  blockNumber: field(quantityResult, ({ after }) => headOf(after.tree).block.header.number),
  blockHash: field(hash, ({ after }) => headOf(after.tree).block.hash),
  removed: field(quantityResult, ({ head }) => head.removed.length),
  added: field(quantityResult, ({ head }) => head.added.length),
  pending: field(quantityResult, ({ after }) => after.pool.size),
  names: field(boolean, ({ before, after }) => before === after),
})

/** Heads per change of the chain, as in the summary: a billion blocks can be mined at once. */
const MAX_HEADS = 10_000

/** The newest blocks, oldest first. */
function newest({ chain }: MethodContext, heads: BlockRange, limit: number): Selection {
  const most = Math.min(heads.length, limit)
  return selection(most, function* () {
    for (let index = heads.length - most; index < heads.length; index++) {
      yield headerShape.encode(viewOfBlock(heads.at(index)!, chain.state.config.upstream))
    }
  })
}

function logsThatMatch(query: LogQuery, blocks: readonly BlockLogs[]): Selection {
  const most = blocks.reduce((sum, { count }) => sum + count, 0)
  return selection(most, function* () {
    for (const entries of wantedLogs(query, blocks)) {
      // for blocks without a match, so that other work gets a turn
      yield undefined
      for (const entry of entries) yield logShape.encode(entry)
    }
  })
}

/** Matching receipts, one list per block, as clients agreed. */
function receiptsOf(
  context: MethodContext,
  heads: BlockRange,
  hashes: ReadonlySet<Hash>,
): Selection {
  const records = [...heads.filled()].filter(({ executed }) => executed.length > 0)
  return selection(records.length, function* () {
    for (const record of records) {
      const receipts = record.executed.flatMap(({ transaction }, index) =>
        hashes.size === 0 || hashes.has(transaction.hash)
          ? [receiptShape.encode(viewOfReceipt(context, { record, index }))]
          : [],
      )
      yield receipts.length > 0 ? receipts : undefined
    }
  })
}

function pendingOf(pending: readonly Transaction[], bodies: boolean): Selection {
  return selection(pending.length, function* () {
    for (const transaction of pending) {
      yield bodies
        ? transactionShape.encode(viewOfPooled(transaction))
        : hash.encode(transaction.hash)
    }
  })
}

function selection(most: number, results: () => IterableIterator<Json | undefined>): Selection {
  return { most, results: { [Symbol.iterator]: results } }
}

function subscriptionSelector(
  context: MethodContext,
  kind: SubscriptionKind,
  { query, bodies, hashes }: Details,
): Selector {
  const selectors: Record<typeof kind, Selector> = {
    newHeads: ({ heads }) => newest(context, heads, MAX_HEADS),
    changes: ({ change }) => selection(1, () => [changeShape.encode(change)].values()),
    logs: ({ logs }) => logsThatMatch(query, logs),
    newPendingTransactions: ({ pending }) => pendingOf(pending, bodies),
    transactionReceipts: ({ heads }) => receiptsOf(context, heads, hashes),
    syncing: () => ({ most: 0, results: [] }),
    // they are no changes of the chain: Subscriptions.notifyCall sends them
    calls: () => ({ most: 0, results: [] }),
  }
  return selectors[kind]
}

function checkDetails(kind: SubscriptionKind, { given }: Details): void {
  const [taken, expected] = DETAILS[kind]
  if (given === 'nothing' || given === taken) return
  throw invalidParams(`details: expected ${expected} for ${kind}, got ${given}`)
}

/** Subscribers get the current status right after their id; later changes come from `Subscriptions.notifySyncing`. */
function notifySyncing(session: Session, id: string, status: SyncStatus | undefined): void {
  const params = [{ subscription: id, result: syncChange(status) }]
  setImmediate(() => session.notify('eth_subscription', { most: 1, params }))
}

function sessionOf(session: Session | undefined): Session {
  if (session !== undefined) return session
  const message =
    'subscriptions need a WebSocket connection; over HTTP use eth_newFilter, eth_newBlockFilter or eth_newPendingTransactionFilter'
  throw new DevchainError('METHOD_NOT_SUPPORTED', message)
}
