// Logs as clients see them.
import { type Hash, hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import type { LogEntry } from '../../node/events/logs.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import { address, boolean, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder, Json } from '../../rpc/schema.ts'
import { field, quantityResult, shape } from './encodeobject.ts'

/** A log as its fields say: the slow twin of `logShape`. */
export const logByFields: Encoder<LogEntry> = shape<LogEntry>('log', {
  removed: field(boolean, (entry) => entry.removed),
  logIndex: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, BigInt(entry.logIndex)),
  ),
  transactionIndex: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, BigInt(entry.transactionIndex)),
  ),
  transactionHash: field(nullable(hash), (entry) => unlessPending(entry, hashOfLog(entry))),
  blockHash: field(nullable(hash), (entry) => unlessPending(entry, entry.record.block.hash)),
  blockNumber: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, entry.record.block.header.number),
  ),
  blockTimestamp: field(nullable(quantityResult), (entry) =>
    unlessPending(entry, entry.record.block.header.timestamp),
  ),
  address: field(address, ({ log }) => log.address),
  data: field(data, ({ log }) => log.data),
  topics: field(list(hash), ({ log }) => log.topics),
})

/** A log (spec 2.5); those of the pending block have null places. */
export const logShape: Encoder<LogEntry> = {
  ...logByFields,
  // written out, as answers have thousands of logs, and JSON.stringify is faster with objects that are made alike
  encode: encodeLog,
}

/** A list of logs (spec 2.5). */
export const logsShape: Encoder<readonly LogEntry[]> = list(logShape)

function encodeLog(entry: LogEntry): Json {
  const { log, record, logIndex, transactionIndex, removed } = entry
  const { header, hash: blockHash } = record.block
  return {
    removed,
    logIndex: unlessPending(entry, `0x${logIndex.toString(16)}`),
    transactionIndex: unlessPending(entry, `0x${transactionIndex.toString(16)}`),
    transactionHash: unlessPending(entry, hashOfLog(entry)),
    blockHash: unlessPending(entry, blockHash),
    blockNumber: unlessPending(entry, quantityFromBigint(header.number)),
    blockTimestamp: unlessPending(entry, quantityFromBigint(header.timestamp)),
    address: log.address,
    data: hexFromBytes(log.data),
    topics: log.topics,
  }
}

function unlessPending<V>(entry: LogEntry, value: V): V | null {
  return entry.pending === true ? null : value
}

/** Hash of the transaction that a mined log is of. */
export function hashOfLog({ record, transactionIndex }: LogEntry): Hash {
  return executedAt({ record, index: transactionIndex }).transaction.hash
}
