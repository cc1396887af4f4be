// Decompresses request bodies (`content-encoding`) within a limit.
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib'
import { printValue } from '../core/errors.ts'
import type { Refusal } from './replies.ts'

/** Functions of zlib, which is loaded on first use: it takes a millisecond. */
const DECODERS: ReadonlyMap<string, (bytes: Uint8Array) => typeof gunzip> = new Map([
  ['gzip', () => gunzip],
  ['x-gzip', () => gunzip],
  // RFC 9110 means zlib's format, whose first byte ends with 8; some clients send raw deflate
  ['deflate', (bytes: Uint8Array) => ((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)],
  ['br', () => brotliDecompress],
])

/** The `accept-encoding` of a refusal. */
const READ = 'gzip, deflate, br'

/** Nested encodings of one body. */
const MAX_ENCODINGS = 4

/**
 * In the order of application.
 * @param header `content-encoding`; several headers are joined with commas
 */
export function encodingsOf(header: string | undefined): readonly string[] {
  if (header === undefined) return []
  const names = header.split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '' && name !== 'identity')
}

/** Undefined if all are supported. */
export function refusalOfEncodings(encodings: readonly string[]): Refusal | undefined {
  const unknown = encodings.find((name) => !DECODERS.has(name))
  if (unknown === undefined && encodings.length <= MAX_ENCODINGS) return undefined
  const message =
    unknown === undefined
      ? `the body has ${encodings.length} encodings, more than the limit of ${MAX_ENCODINGS}`
      : `the content-encoding ${printValue(unknown)} is not supported: send ${READ} or none`
  return { status: 415, message, headers: { 'accept-encoding': READ } }
}

/**
 * @param encodings supported ones
 * @param limit bytes after each step
 */
export async function decodeBody(
  body: Uint8Array,
  encodings: readonly string[],
  limit: number,
): Promise<Uint8Array | Refusal> {
  let bytes = body
  for (const name of encodings.toReversed()) {
    try {
      const decode = promisify<Uint8Array, ZlibOptions, Uint8Array>(DECODERS.get(name)!(bytes))
      bytes = await decode(bytes, { maxOutputLength: limit })
    } catch (error) {
      return refusalOfFailure(name, error as NodeJS.ErrnoException, limit)
    }
  }
  return bytes
}

function refusalOfFailure(name: string, error: NodeJS.ErrnoException, limit: number): Refusal {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') {
    const message = `the request's body is over the limit of ${limit} bytes after decompressing ${name}`
    return { status: 413, message }
  }
  const message = `the body is not valid ${name}, its content-encoding: ${error.message}`
  return { status: 400, message }
}
