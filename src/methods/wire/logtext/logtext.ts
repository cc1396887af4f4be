// Accelerator: writes the JSON of many logs as bytes, and remembers those of logs that were answered before.
//
// It gains a third to a half of the time of a reply with many logs, which is asked for again and again: row allLogsMs. Its
// plain twin is the encoder of ../encodelog.ts with JSON.stringify. Its door is one call in ../../eth/filters.ts.
// test/rpc/logshape.test.ts holds the two against each other.
import { hexFromBytes } from '../../../core/hex.ts'
import { LruCache } from '../../../core/lrucache.ts'
import type { LogEntry } from '../../../node/events/logs.ts'
import type { Block } from '../../../protocol/block.ts'
import type { Log } from '../../../protocol/receipt.ts'
import type { Encoder } from '../../../rpc/schema.ts'
import { hashOfLog, logShape } from '../encodelog.ts'

/** Logs, from so many on written as bytes at once. */
const MANY_LOGS = 64

/** Has an encoder of logs write many of them as bytes. */
export function writtenAsText(logs: Encoder<readonly LogEntry[]>): Encoder<readonly LogEntry[]> {
  return {
    ...logs,
    write: (entries) => (entries.length < MANY_LOGS ? undefined : () => writeLogs(entries)),
  }
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

/** A comma and the JSON of what `logShape` gives. */
function bytesOfLog(entry: LogEntry): Buffer {
  // all of it is ASCII, which takes a tenth of the time of UTF-8
  if (entry.pending === true)
    return Buffer.from(`,${JSON.stringify(logShape.encode(entry))}`, 'latin1')
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
function textOfLog(entry: LogEntry): string {
  const { log, record, logIndex, transactionIndex, removed } = entry
  const { header, hash: blockHash } = record.block
  let text = `{"removed":${removed},"logIndex":"0x${logIndex.toString(16)}","transactionIndex":"0x${transactionIndex.toString(16)}","transactionHash":"${hashOfLog(entry)}","blockHash":"${blockHash}","blockNumber":"0x${header.number.toString(16)}","blockTimestamp":"0x${header.timestamp.toString(16)}","address":"${log.address}","data":"${hexFromBytes(log.data)}","topics":[`
  for (const [index, topic] of log.topics.entries())
    text += index === 0 ? `"${topic}` : `","${topic}`
  return log.topics.length === 0 ? `${text}]}` : `${text}"]}`
}
