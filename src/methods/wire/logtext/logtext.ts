// Accelerator: caches the JSON of logs as bytes.
// It saves a third to a half of a reply with many logs (row allLogsMs), which clients repeat often. Its plain twin is
// that of `longList` of ../../../rpc/jsontext.ts, which test/methods/eth/logtext.test.ts compares it with. Its door is
// `bytesOfLog` of a request's context, set in ../../../app/backend.ts.
import type { Hash } from '../../../core/hex.ts'
import { LruCache } from '../../../core/lrucache.ts'
import type { LogEntry } from '../../../node/events/logs.ts'
import type { Log } from '../../../protocol/blocks/receipt.ts'
import { logShape } from '../encodereceipt.ts'

/** A log's bytes and its block: one run may be in two blocks, which differ in their proof of work. */
interface LogBytes {
  readonly block: Hash
  readonly bytes: Buffer
}

const logBytes = new LruCache<Log, LogBytes>(8_192)

/** Bytes of the largest cached log; usual ones have far fewer. */
const SHORT_LOG = 2_048

/** A comma and the JSON of `logShape`. */
export function bytesOfLog(entry: LogEntry): Buffer {
  const { log, removed, pending, block } = entry
  const isStored = !removed && pending !== true
  const known = logBytes.get(log)
  if (known?.block === block.hash && isStored) return known.bytes
  const text = `,${JSON.stringify(logShape.encode(entry))}`
  // all of it is ASCII, which is written faster than UTF-8
  if (!isStored || text.length > SHORT_LOG) return Buffer.from(text, 'latin1')
  // own memory: a slice of node's shared pool would keep 8 KB alive
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  logBytes.set(log, { block: block.hash, bytes })
  return bytes
}
