// JSON in bytes that arrive in chunks: where its values end. The values themselves are left to JSON.parse.

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
export const OPEN = 0x7b
export const CLOSE = 0x7d

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at += 1
  return at
}

/** The comma or closing bracket after a value; undefined if it is not all there. */
export function valueEnd(bytes: Uint8Array, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1)
    } else if (byte === COMMA) {
      if (depth === 0) return at
    } else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return at
      depth -= 1
    }
  }
  return undefined
}

/** The closing quote of a string; at the end of the bytes or behind it if it is not there. */
export function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/**
 * Calls `read` with all bytes that were not read yet, for each chunk and at the end.
 * @param read returns the bytes that it leaves
 * @returns what is left at the end
 */
export async function readChunks(
  chunks: AsyncIterable<Uint8Array>,
  read: (bytes: Buffer) => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0)
  let waiting: Uint8Array[] = []
  let waitingLength = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    waitingLength += chunk.length
    // a value longer than a chunk is looked at each time it has doubled
    if (waitingLength < rest.length) continue
    rest = await read(Buffer.concat([rest, ...waiting]))
    waiting = []
    waitingLength = 0
  }
  return await read(Buffer.concat([rest, ...waiting]))
}
