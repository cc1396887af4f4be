// What a change of the chain means to those who listen: the one place where a difference of two states becomes
// notifications. Filters and subscriptions both read it, so that they never tell different stories.
import type { Hash } from '../core/hex.ts'
import type { Transaction } from '../protocol/transaction.ts'
import { transactionPlace } from './blocktree.ts'
import type { StateChange } from './chain.ts'
import type { BlockRange } from './line.ts'
import { type LogEntry, logsOf } from './logs.ts'
import { arrivedAfter, pooledByHash } from './pool.ts'

/** In the order in which listeners are told: pending, removed logs, logs, heads. */
export interface Announcements {
  /** Transactions that entered the pool with this change, mined at once or still there, in order of arrival. */
  readonly pending: readonly Transaction[]
  /** Logs of abandoned blocks, the newest first, as if undone. */
  readonly removedLogs: readonly LogEntry[]
  /** Logs of new blocks, the oldest first. */
  readonly addedLogs: readonly LogEntry[]
  /** New blocks, the oldest first. */
  readonly heads: BlockRange
}

/** Everything there is to tell of a change. Empty lists when nothing changed that anybody can listen to. */
export function announcementsOf(change: StateChange): Announcements {
  const { removed, added } = change.head
  return {
    pending: newTransactions(change),
    removedLogs: [...removed.filled()].flatMap((record) => logsOf(record).reverse().map(asRemoved)),
    addedLogs: [...added.filled()].flatMap(logsOf),
    heads: added,
  }
}

function asRemoved(entry: LogEntry): LogEntry {
  return { ...entry, removed: true }
}

/**
 * Mined transactions carry no arrival number: those of new blocks are new when they neither waited before nor stood
 * in a block before. What a revert brings back into the pool arrived long ago.
 */
function newTransactions({ before, after, head }: StateChange): Transaction[] {
  const isKnown = (hash: Hash): boolean =>
    pooledByHash(before.pool, hash) !== undefined ||
    transactionPlace(before.tree, hash) !== undefined
  const mined = [...head.added.filled()]
    .flatMap(({ block }) => block.transactions)
    .filter(({ hash }) => !isKnown(hash))
  const waiting =
    after.pool.lastArrival > before.pool.lastArrival
      ? arrivedAfter(after.pool, before.pool.lastArrival)
      : []
  return [...mined, ...waiting.map(({ transaction }) => transaction)]
}
