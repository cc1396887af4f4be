// Encodes logs.
import type { LogEntry } from '../../node/events/logs.ts'
import { address, boolean, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { field, quantityResult, shape } from './encodeobject.ts'

/** A log (spec 2.5); its position is null in the pending block. */
export const logShape: Encoder<LogEntry> = shape<LogEntry>('log', {
  removed: field(boolean, (entry) => entry.removed),
  logIndex: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, BigInt(entry.logIndex)),
  ),
  transactionIndex: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, BigInt(entry.transactionIndex)),
  ),
  transactionHash: field(nullable(hash), (entry) => unlessPending(entry, entry.transactionHash)),
  blockHash: field(nullable(hash), (entry) => unlessPending(entry, entry.block.hash)),
  blockNumber: field(nullable(quantityResult), (entry) => unlessPending(entry, entry.block.number)),
  blockTimestamp: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, entry.block.timestamp),
  ),
  address: field(address, ({ log }) => log.address),
  data: field(data, ({ log }) => log.data),
  topics: field(list(hash), ({ log }) => log.topics),
})

export const logsShape: Encoder<readonly LogEntry[]> = list(logShape, 'log')

function unlessPending<V>(entry: LogEntry, value: V): V | null {
  return entry.pending === true ? null : value
}
