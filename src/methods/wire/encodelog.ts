// Encodes logs.
import type { LogEntry } from '../../node/events/logs.ts'
import { address, boolean, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { field, quantityResult, type ShapeField, shape } from './encodeobject.ts'

/** A log (spec 2.5); its position is null in the pending block. */
export const logShape: Encoder<LogEntry> = shape<LogEntry>('log', {
  removed: field(boolean, (entry) => entry.removed),
  logIndex: placed(quantityResult, (entry) => entry.logIndex),
  transactionIndex: placed(quantityResult, (entry) => entry.transactionIndex),
  transactionHash: placed(hash, (entry) => entry.transactionHash),
  blockHash: placed(hash, (entry) => entry.block.hash),
  blockNumber: placed(quantityResult, (entry) => entry.block.number),
  blockTimestamp: placed(quantityResult, (entry) => entry.block.timestamp),
  address: field(address, ({ log }) => log.address),
  data: field(data, ({ log }) => log.data),
  topics: field(list(hash), ({ log }) => log.topics),
})

export const logsShape: Encoder<readonly LogEntry[]> = list(logShape, 'log')

function placed<V>(encoder: Encoder<V>, get: (entry: LogEntry) => V): ShapeField<LogEntry> {
  return field(nullable(encoder), (entry) => (entry.pending === true ? null : get(entry)))
}
