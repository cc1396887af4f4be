// Recursive Length Prefix (Yellow Paper, appendix B). Own code: encoding with @ethereumjs/rlp, which tests compare, was a
// quarter of the time of a full block. It decodes nested lists in quadratic time, and its errors give no position.
import { DevchainError } from './errors.ts'
import { type Address, bytesFromBigint, bytesFromHex, type Hash } from './hex.ts'

export type RlpItem = Uint8Array | readonly RlpItem[]

export type RlpValue = Uint8Array | bigint | Address | Hash | readonly RlpValue[]

/** Integers become their shortest big-endian bytes; zero is empty. */
export function encodeRlp(value: RlpValue): Uint8Array {
  const encoded = new Uint8Array(sizeOf(value))
  write(encoded, 0, value)
  return encoded
}

function sizeOf(value: RlpValue): number {
  if (value instanceof Uint8Array) return stringSize(value)
  if (typeof value === 'bigint') return integerSize(value)
  if (typeof value !== 'string') return listSize(sizeOfAll(value))
  return value.length === 4 ? stringSize(bytesFromHex(value)) : listSize((value.length - 2) / 2)
}

function sizeOfAll(values: readonly RlpValue[]): number {
  let size = 0
  for (const value of values) size += sizeOf(value)
  return size
}

/** Returns the end. */
function write(out: Uint8Array, at: number, value: RlpValue): number {
  if (value instanceof Uint8Array) return writeString(out, at, value)
  if (typeof value === 'bigint') return writeInteger(out, at, value)
  if (typeof value === 'string') return writeString(out, at, bytesFromHex(value))
  let end = writeHead(out, at, 0xc0, sizeOfAll(value))
  for (const item of value) end = write(out, end, item)
  return end
}

/** Returns the end. */
export function writeString(out: Uint8Array, at: number, bytes: Uint8Array): number {
  const isBare = bytes.length === 1 && bytes[0]! < 0x80
  const start = isBare ? at : writeHead(out, at, 0x80, bytes.length)
  out.set(bytes, start)
  return start + bytes.length
}

function writeInteger(out: Uint8Array, at: number, value: bigint): number {
  if (value > MAX_NUMBER) return writeString(out, at, bytesFromBigint(value))
  const number = Number(value)
  const isBare = number > 0 && number < 0x80
  const size = sizeOfNumber(number)
  return writeNumber(out, isBare ? at : writeHead(out, at, 0x80, size), size, number)
}

/** The head of a string (0x80) or list (0xc0). Returns its end. */
export function writeHead(out: Uint8Array, at: number, base: number, size: number): number {
  const sizeBytes = size < 56 ? 0 : sizeOfNumber(size)
  out[at] = base + (sizeBytes === 0 ? size : 55 + sizeBytes)
  return writeNumber(out, at + 1, sizeBytes, size)
}

function writeNumber(out: Uint8Array, at: number, size: number, number: number): number {
  let rest = number
  for (let i = at + size - 1; i >= at; i--, rest = Math.floor(rest / 256)) out[i] = rest & 255
  return at + size
}

const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

/** Puts the type's byte first, except for type 0 (EIP-2718). */
export function encodeTyped(type: number, value: RlpValue): Uint8Array {
  if (type === 0) return encodeRlp(value)
  const encoded = new Uint8Array(1 + sizeOf(value))
  encoded[0] = type
  write(encoded, 1, value)
  return encoded
}

export function stringSize(bytes: Uint8Array): number {
  return bytes.length === 1 && bytes[0]! < 0x80 ? 1 : listSize(bytes.length)
}

export function integerSize(value: bigint | number): number {
  if (value < 0x80) return 1
  const isSafe = value <= MAX_NUMBER
  return listSize(isSafe ? sizeOfNumber(Number(value)) : (value.toString(16).length + 1) >> 1)
}

export function listSize(size: number): number {
  return size < 56 ? 1 + size : 1 + sizeOfNumber(size) + size
}

function sizeOfNumber(value: number): number {
  let size = 0
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) size += 1
  return size
}

export function joinRlp(encodedItems: readonly Uint8Array[]): Uint8Array {
  const size = encodedItems.reduce((sum, part) => sum + part.length, 0)
  const list = new Uint8Array(listSize(size))
  let at = writeHead(list, 0, 0xc0, size)
  for (const part of encodedItems) {
    list.set(part, at)
    at += part.length
  }
  return list
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
  return new DevchainError('INVALID_PARAMS', `expected RLP: ${problem}`)
}
