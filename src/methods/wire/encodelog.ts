// Logs as clients see them: by their fields, and many of them written as bytes at once.
import { type Hash, hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { LogEntry } from '../../node/events/logs.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import type { Block } from '../../protocol/block.ts'
import type { Log } from '../../protocol/receipt.ts'
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
  // written out, as answers have thousands of logs: with what JSON.stringify saves on objects that are made alike, 1,500
  // take 1.3 ms and not 1.8
  encode: encodeLog,
}

/** Logs, from so many on written as bytes at once. */
const MANY_LOGS = 64

/** A list of logs (spec 2.5). */
export const logsShape: Encoder<readonly LogEntry[]> = {
  ...list(logShape),
  // 1,500 logs are 943 kB: 1 ms, and a tenth of that again, where objects, JSON.stringify and UTF-8 take 2.5 ms
  write: (entries) => (entries.length < MANY_LOGS ? undefined : () => writeLogs(entries)),
}

function writeLogs(entries: readonly LogEntry[]): Buffer {
  const written = Buffer.concat([...entries.map(bytesOfLog), LIST_END])
  // in place of the first log's comma
  written[0] = LIST_BEGIN
  return written
}

const LIST_BEGIN = 0x5b
const LIST_END = Buffer.from(']')

/** A log as bytes, and the block that they tell of: a run may be in two blocks, which differ in their proofs of work. */
interface LogBytes {
  readonly block: Block
  readonly bytes: Buffer
}

/**
 * The last logs that were answered, at least so many: whoever asks for all logs does so again, and to copy their text
 * takes a tenth of the time that it takes to put it together.
 */
const logBytes = new LruCache<Log, LogBytes>(8_192)

/** Bytes of a log that is remembered, at most. Usual ones have 600, so that all are 10 MB. */
const SHORT_LOG = 2_048

/** A comma and the JSON of what `encodeLog` gives. */
function bytesOfLog(entry: LogEntry): Buffer {
  // all of it is ASCII, which takes a tenth of the time of UTF-8
  if (entry.pending === true) return Buffer.from(`,${JSON.stringify(encodeLog(entry))}`, 'latin1')
  const { log, removed } = entry
  const { block } = entry.record
  const known = logBytes.get(log)
  if (known?.block === block && !removed) return known.bytes
  const text = `,${textOfLog(entry)}`
  if (removed || text.length > SHORT_LOG) return Buffer.from(text, 'latin1')
  // memory of its own, as a part of what node shares would hold on to 8 KB
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  logBytes.set(log, { block, bytes })
  return bytes
}

/** The JSON of a mined one: in long pieces, as each text within a text takes time. */
export function textOfLog(entry: LogEntry): string {
  const { log, record, logIndex, transactionIndex, removed } = entry
  const { header, hash: blockHash } = record.block
  let text = `{"removed":${removed},"logIndex":"0x${logIndex.toString(16)}","transactionIndex":"0x${transactionIndex.toString(16)}","transactionHash":"${hashOfLog(entry)}","blockHash":"${blockHash}","blockNumber":"0x${header.number.toString(16)}","blockTimestamp":"0x${header.timestamp.toString(16)}","address":"${log.address}","data":"${hexFromBytes(log.data)}","topics":[`
  for (const [index, topic] of log.topics.entries())
    text += index === 0 ? `"${topic}` : `","${topic}`
  return log.topics.length === 0 ? `${text}]}` : `${text}"]}`
}

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

function hashOfLog({ record, transactionIndex }: LogEntry): Hash {
  return executedAt({ record, index: transactionIndex }).transaction.hash
}
