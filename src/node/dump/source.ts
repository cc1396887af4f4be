// The bytes of a dump, unzipped if need be: from memory within bounds, or from a file of any size.
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { limitExceeded } from '../../core/errors.ts'
import { MAX_DUMP, noDump } from './members.ts'
import type { DumpSource } from './read.ts'

/** Bytes read at once. */
const CHUNK = 2 ** 20

/** @throws {DevchainError} `LIMIT_EXCEEDED` while it is read, for more bytes than fit: gzip may expand a thousandfold */
export function dumpInMemory(bytes: Uint8Array): DumpSource {
  return async function* within() {
    let size = 0
    const parts = isZipped(bytes) ? unzipped(Readable.from([bytes])) : [bytes]
    for await (const part of parts) {
      size += part.length
      if (size > MAX_DUMP) throw limitExceeded(`state: expected at most ${MAX_DUMP} bytes unzipped`)
      yield part
    }
  }
}

/** Throws node's error while it is read, if it cannot be. */
export function dumpInFile(file: string): DumpSource {
  return () => {
    const stream = createReadStream(file, { highWaterMark: CHUNK })
    return startsZipped(file) ? unzipped(stream) : stream
  }
}

async function* unzipped(stream: Readable): AsyncIterableIterator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK })
  stream.once('error', (error) => gunzip.destroy(error)).pipe(gunzip)
  try {
    yield* gunzip
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error
    throw noDump(`it cannot be unzipped: ${(error as Error).message}`)
  } finally {
    stream.destroy()
  }
}

/** The first two bytes of gzip (RFC 1952). */
function isZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function startsZipped(file: string): boolean {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = new Uint8Array(2)
    return readSync(descriptor, bytes) === 2 && isZipped(bytes)
  } finally {
    closeSync(descriptor)
  }
}
