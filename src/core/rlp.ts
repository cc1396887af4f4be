// Recursive Length Prefix (Yellow Paper, appendix B). @ethereumjs/rlp encodes; what a block has many of is encoded by
// fastrlp/. Decoding is done here: the library takes quadratic time on nested lists, and its errors give no position.
import { type Input, RLP } from '@ethereumjs/rlp'
import { type DevchainError, invalidParams } from './errors.ts'
import type { Address, Hash } from './hex.ts'

export type RlpItem = Uint8Array | readonly RlpItem[]

export type RlpValue = Uint8Array | bigint | Address | Hash | readonly RlpValue[]

/** Integers become their shortest big-endian bytes; zero is empty. */
export function encodeRlp(value: RlpValue): Uint8Array {
  return RLP.encode(value as Input)
}

/** Most nested lists that are decoded. A block has five levels, access lists included. */
const MAX_DEPTH = 64

/**
 * Decodes exactly one item in canonical encoding, in linear time.
 * @param mostItems limit on all levels: a decoded item takes a hundred times the memory of its byte
 * @returns byte strings are views of `bytes`
 * @throws {DevchainError} `INVALID_PARAMS` if the bytes are not one well-formed item, or have more items
 */
export function decodeRlp(
  bytes: Uint8Array,
  mostItems: number = Number.POSITIVE_INFINITY,
): RlpItem {
  return itemOf(bytes, soleHead(bytes), 0, { left: mostItems, most: mostItems })
}

/**
 * Splits a list into its encoded items without decoding them.
 * @returns views of `bytes`
 * @throws {DevchainError} `INVALID_PARAMS` if the bytes are not a list, an item is cut off, or there are more items
 */
export function encodedItems(bytes: Uint8Array, mostItems: number): Uint8Array[] {
  const { isList, start, end } = soleHead(bytes)
  if (!isList) throw malformed('the item is not a list')
  const items: Uint8Array[] = []
  for (let next = start; next < end; ) {
    if (items.length >= mostItems) throw tooMany(mostItems)
    const item = headAt(bytes, next, end)
    items.push(bytes.subarray(next, item.end))
    next = item.end
  }
  return items
}

/**
 * Decodes one item of a list; those before it are only skipped.
 * @throws {DevchainError} `INVALID_PARAMS` if the bytes are not a list, or it ends before the item
 */
export function decodeRlpItem(bytes: Uint8Array, index: number): RlpItem {
  const { isList, start, end } = soleHead(bytes)
  if (!isList) throw malformed('the item is not a list')
  let at = start
  for (let skipped = 0; skipped < index; skipped++) at = headAt(bytes, at, end).end
  const most = Number.POSITIVE_INFINITY
  return itemOf(bytes, headAt(bytes, at, end), 0, { left: most, most })
}

function soleHead(bytes: Uint8Array): Head {
  const head = headAt(bytes, 0, bytes.length)
  if (head.end === bytes.length) return head
  throw malformed(`the item ends at byte ${head.end} of ${bytes.length}`)
}

/**
 * The end of the item that starts at `at`.
 * @throws {DevchainError} `INVALID_PARAMS` if there is no item or it is cut off
 */
export function rlpItemEnd(bytes: Uint8Array, at: number): number {
  return headAt(bytes, at, bytes.length).end
}

interface Head {
  readonly isList: boolean
  readonly start: number
  readonly end: number
}

interface Budget {
  left: number
  readonly most: number
}

function itemOf(
  bytes: Uint8Array,
  { isList, start, end }: Head,
  depth: number,
  budget: Budget,
): RlpItem {
  budget.left -= 1
  if (budget.left < 0) throw tooMany(budget.most)
  if (!isList) return bytes.subarray(start, end)
  if (depth === MAX_DEPTH) throw malformed(`lists are nested deeper than ${MAX_DEPTH}`)
  const items: RlpItem[] = []
  for (let next = start; next < end; ) {
    const head = headAt(bytes, next, end)
    items.push(itemOf(bytes, head, depth + 1, budget))
    next = head.end
  }
  return items
}

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

function lengthAt(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0) throw malformed(`the length at byte ${from} has leading zeros`)
  let length = 0
  for (let i = from; i < to; i++) length = length * 256 + (bytes[i] ?? 0)
  if (length < 56)
    throw malformed(`the length at byte ${from} is ${length}, which has a shorter form`)
  return length
}

function tooMany(most: number): DevchainError {
  return malformed(`there are more than ${most} items`)
}

function malformed(problem: string): DevchainError {
  return invalidParams(`expected RLP: ${problem}`)
}
