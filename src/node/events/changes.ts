// Turns the difference of two states into notifications, for filters and subscriptions alike.
import type { Hash } from '../../core/hex.ts'
import { lazy } from '../../core/lrucache.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { BlockRange } from '../ledger/canonicalchain.ts'
import type { StateChange } from '../ledger/change.ts'
import { arrivedAfter, pooledByHash } from '../pool/pool.ts'
import { type LogEntry, logsOf } from './logs.ts'

/** Notifications go out in this order: pending, removed logs, logs, heads. Computed on read. */
export interface Announcements {
  /** Transactions that entered the pool with this change, mined at once or not, in order of arrival. */
  readonly pending: readonly Transaction[]
  /** Removed blocks, newest first, then new blocks, oldest first. */
  readonly logs: readonly BlockLogs[]
  readonly heads: BlockRange
  readonly change: StateChange
}

export interface BlockLogs {
  readonly record: BlockRecord
  readonly removed: boolean
  readonly count: number
}

export function announcementsOf(change: StateChange): Announcements {
  const pending = lazy(() => newTransactions(change))
  const logs = lazy(() => blocksWithLogs(change))
  return {
    get pending() {
      return pending()
    },
    get logs() {
      return logs()
    },
    heads: change.head.added,
    change,
  }
}

export function entriesOf({ record, removed }: BlockLogs): LogEntry[] {
  const entries = logsOf(record)
  return removed ? entries.reverse().map((entry) => ({ ...entry, removed })) : entries
}

function blocksWithLogs({ head }: StateChange): BlockLogs[] {
  const found: BlockLogs[] = []
  for (const removed of [true, false]) {
    for (const record of (removed ? head.removed : head.added).filled()) {
      let count = 0
      for (const { receipt } of record.executed) count += receipt.logs.length
      if (count > 0) found.push({ record, removed, count })
    }
  }
  return found
}

/** Mined transactions lack arrival numbers: new are those in neither the old pool nor an older block. */
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
