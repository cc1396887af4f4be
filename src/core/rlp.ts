// Recursive Length Prefix, the encoding of everything that is hashed (Yellow Paper, appendix B).
import { RLP } from '@ethereumjs/rlp'
import { DevchainError } from './errors.ts'
import { bytesFromBigint, concatBytes } from './hex.ts'

/** A byte string, or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Encodes an item. Integers go in as their shortest big-endian bytes (`bytesFromBigint`). */
export function encodeRlp(item: RlpItem): Uint8Array {
  return RLP.encode(item as Parameters<typeof RLP.encode>[0])
}

/** The list of items that are encoded already. */
export function joinRlp(encodedItems: readonly Uint8Array[]): Uint8Array {
  const size = encodedItems.reduce((sum, part) => sum + part.length, 0)
  const head = listHead(size)
  const list = new Uint8Array(head.length + size)
  list.set(head)
  let at = head.length
  for (const part of encodedItems) {
    list.set(part, at)
    at += part.length
  }
  return list
}

function listHead(size: number): Uint8Array {
  if (size < 56) return Uint8Array.of(0xc0 + size)
  const length = bytesFromBigint(BigInt(size))
  return concatBytes(Uint8Array.of(0xf7 + length.length), length)
}

/** Lists within lists that are read. A block has five levels, its transactions' access lists included. */
const MAX_DEPTH = 64

/**
 * Decodes exactly one item, and only from its canonical encoding: what is decoded encodes to the same bytes.
 *
 * Not by @ethereumjs/rlp, which copies each list at each level: 2.4 MB of lists within lists took it half a minute.
 * Here each byte is looked at once.
 * @returns byte strings that are parts of `bytes`, not copies
 * @throws {DevchainError} `INVALID_PARAMS` when the bytes are not one well-formed item.
 */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const head = headAt(bytes, 0, bytes.length)
  if (head.end !== bytes.length)
    throw malformed(`the item ends at byte ${head.end} of ${bytes.length}`)
  return itemOf(bytes, head, 0)
}

/**
 * Where the item that begins at `at` ends, in bytes of which more items may follow.
 * @throws {DevchainError} `INVALID_PARAMS` when no item begins there, or it is cut off
 */
export function rlpItemEnd(bytes: Uint8Array, at: number): number {
  return headAt(bytes, at, bytes.length).end
}

/** Where an item is: its payload is from `start` to `end`. */
interface Head {
  readonly isList: boolean
  readonly start: number
  readonly end: number
}

function itemOf(bytes: Uint8Array, { isList, start, end }: Head, depth: number): RlpItem {
  if (!isList) return bytes.subarray(start, end)
  if (depth === MAX_DEPTH) throw malformed(`lists are nested deeper than ${MAX_DEPTH}`)
  const items: RlpItem[] = []
  for (let next = start; next < end; ) {
    const head = headAt(bytes, next, end)
    items.push(itemOf(bytes, head, depth + 1))
    next = head.end
  }
  return items
}

/** The head of the item at `at`, which ends at `limit` at the latest. */
function headAt(bytes: Uint8Array, at: number, limit: number): Head {
  const first = bytes[at]
  if (first === undefined) throw malformed('there are no bytes')
  if (first < 0x80) return { isList: false, start: at, end: at + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  const lengthBytes = Math.max(0, short - 55)
  const start = at + 1 + lengthBytes
  const end = start + (lengthBytes === 0 ? short : lengthAt(bytes, at + 1, start))
  if (end > limit) throw malformed(`the item at byte ${at} is longer than the bytes there are`)
  if (!isList && end - start === 1 && (bytes[start] ?? 0) < 0x80) {
    throw malformed(`the single byte at ${start} needs no prefix`)
  }
  return { isList, start, end }
}

/** A length of 56 or more, in as few bytes as it needs. */
function lengthAt(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0) throw malformed(`the length at byte ${from} has leading zeros`)
  let length = 0
  for (let i = from; i < to; i++) length = length * 256 + (bytes[i] ?? 0)
  if (length < 56)
    throw malformed(`the length at byte ${from} is ${length}, which has a shorter form`)
  return length
}

function malformed(problem: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `expected RLP: ${problem}`)
}
