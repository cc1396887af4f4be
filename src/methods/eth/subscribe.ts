// eth: subscriptions over WebSocket, which some nodes also offer for polling.

import { DevchainError } from '../../core/errors.ts'
import { plural, short } from '../../core/format.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import { type BlockLogs, entriesOf } from '../../node/events/changes.ts'
import { type LogQuery, matches } from '../../node/events/logs.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { SyncStatus } from '../../node/peers.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, enumeration, hash, list, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Json, type Notes } from '../../rpc/schema.ts'
import type { Session } from '../../rpc/session.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import {
  type Selection,
  type Selector,
  type SubscriptionKind,
  syncChange,
} from '../common/subscriptions.ts'
import { viewOfReceipt } from '../common/views.ts'
import { logQuery } from '../wire/decodelogquery.ts'
import { members } from '../wire/decodeobject.ts'
import { headerShape, viewOfBlock } from '../wire/encodeblock.ts'
import { logShape } from '../wire/encodelog.ts'
import { field, quantityResult, shape } from '../wire/encodeobject.ts'
import { receiptShape } from '../wire/encodereceipt.ts'
import { transactionShape, viewOfPooled } from '../wire/encodetransaction.ts'
import { addBlockFilter, queryText } from './filters.ts'

/** Transaction hashes per receipt subscription, as in geth. */
const MAX_HASHES = 200

/**
 * The second parameter: a log filter, whether pending transactions come in full, or the hashes whose receipts are
 * wanted.
 */
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

export const subscribeMethods: Methods = [
  method('eth_subscribe', {
    summary:
      'Subscribes this WebSocket to newHeads, logs, transactionReceipts, newPendingTransactions, changes, calls or syncing.',
    params: [param('kind', enumeration(KINDS)), optional('details', details, NOTHING)],
    result: text,
    example: { params: ['newHeads'] },
    effects: 'node',
    describe: ([kind, given], id) => `${subscriptionText(kind, given)}, id ${short(String(id))}`,
    handle: (context, kind, given) => {
      const { caller, chain, peers, profile, subscriptions } = context
      const { session } = caller
      const isIgnored = profile.filters === 'lenient' && kind === 'newPendingTransactions'
      if (!isIgnored || given.given !== 'an object') checkDetails(kind, given)
      const polled = session === undefined ? polledInstead(context, kind, given) : undefined
      if (polled !== undefined) return quantityFromBigint(polled)
      const id = subscriptions.add(
        sessionOf(session),
        chain,
        kind,
        subscriptionSelector(context, kind, given),
      )
      if (kind === 'syncing') notifySyncing(sessionOf(session), id, peers.now?.syncing())
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

/** A subscription in words. */
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

/** Any change of the chain's state, also one without a block: a balance that was set, a snapshot, a revert. */
const changeShape = shape<StateChange>('change', {
  blockNumber: field(quantityResult, ({ after }) => headOf(after.tree).block.header.number),
  blockHash: field(hash, ({ after }) => headOf(after.tree).block.hash),
  removed: field(quantityResult, ({ head }) => head.removed.length),
  added: field(quantityResult, ({ head }) => head.added.length),
  pending: field(quantityResult, ({ after }) => after.pool.size),
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
    for (const block of blocks) {
      for (const entry of entriesOf(block)) {
        yield matches(query, entry.log) ? logShape.encode(entry) : undefined
      }
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
  const message = `details: expected ${expected} for ${kind}, got ${given}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** Subscribers get the current status right after their id; later changes come from `Subscriptions.notifySyncing`. */
function notifySyncing(session: Session, id: string, status: SyncStatus | undefined): void {
  const params = [{ subscription: id, result: syncChange(status) }]
  setImmediate(() => session.notify('eth_subscription', { most: 1, params }))
}

function sessionOf(session: Session | undefined): Session {
  if (session !== undefined) return session
  throw new DevchainError(
    'METHOD_NOT_SUPPORTED',
    'subscriptions need a WebSocket connection; over HTTP use eth_newFilter, eth_newBlockFilter or eth_newPendingTransactionFilter',
  )
}
