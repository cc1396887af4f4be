// Accelerator: writes the JSON of many logs as bytes, and caches it per log.
// It saves a third to a half of a reply with many logs (row allLogsMs), which clients repeat often. Its
// plain twin is the encoder of ../encodelog.ts with JSON.stringify, which test/methods/eth/logtext.test.ts compares it
// with. Its door is `textOfLogs` of a request's context, set in ../../../app/backend.ts.
import { LruCache } from '../../../core/lrucache.ts'
import type { LogEntry } from '../../../node/events/logs.ts'
import type { Block } from '../../../protocol/blocks/block.ts'
import type { Log } from '../../../protocol/blocks/receipt.ts'
import { JsonText, type Written } from '../../../rpc/jsontext.ts'
import { logShape } from '../encodelog.ts'

const MANY_LOGS = 64

export function textOfLogs(entries: readonly LogEntry[]): JsonText | undefined {
  if (entries.length < MANY_LOGS) return undefined
  const write = (): Written => {
    const bytes = Buffer.concat([...entries.map(bytesOfLog), LIST_END])
    // replaces the first log's comma
    bytes[0] = LIST_BEGIN
    return { size: bytes.length, pieces: [bytes] }
  }
  return new JsonText(write, { value: () => entries.map(logShape.encode), count: entries.length })
}

const LIST_BEGIN = 0x5b
const LIST_END = Buffer.from(']')

/** A log's bytes and its block: one run may be in two blocks, which differ in their proof of work. */
interface LogBytes {
  readonly block: Block
  readonly bytes: Buffer
}

const logBytes = new LruCache<Log, LogBytes>(8_192)

/** Bytes of the largest cached log; usual ones have far fewer. */
const SHORT_LOG = 2_048

/** A comma and the JSON of `logShape`. */
function bytesOfLog(entry: LogEntry): Buffer {
  const { log, removed, pending, record } = entry
  const known = logBytes.get(log)
  const isStored = !removed && pending !== true
  if (known?.block === record.block && isStored) return known.bytes
  const text = `,${JSON.stringify(logShape.encode(entry))}`
  // all of it is ASCII, which is written faster than UTF-8
  if (!isStored || text.length > SHORT_LOG) return Buffer.from(text, 'latin1')
  // own memory: a slice of node's shared pool would keep 8 KB alive
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  logBytes.set(log, { block: record.block, bytes })
  return bytes
}
