// Values of one word each, read straight from the bytes: most calls, errors and events have no others (an accelerator; decode.ts has its plain twin).
import { hexFromBytes } from '../../core/hex.ts'

const WORD = 32

/** The first byte of an address in its word, and of the last four and eight bytes. */
const ADDRESS_AT = 12
const LAST_EIGHT = 24
const LAST_FOUR = 28

/** Integers of more bits are bigints, as the library has them. */
const MOST_BITS_OF_NUMBER = 48

/** Reads the word at an offset; undefined where the library has to judge it. */
export type WordReader = (data: Uint8Array, at: number) => unknown

/** Readers for types that all are of one word; undefined where one is longer, or unknown. */
export function wordReaders(types: readonly string[]): readonly WordReader[] | undefined {
  const readers = types.map(readerOf)
  return readers.every((each) => each !== undefined) ? readers : undefined
}

/** The values; undefined where the library has to judge the bytes: short ones, and those that do not fit. */
export function readWords(
  readers: readonly WordReader[],
  data: Uint8Array,
): readonly unknown[] | undefined {
  if (data.length < WORD * readers.length) return undefined
  const values: unknown[] = []
  for (const [i, read] of readers.entries()) {
    const value = read(data, WORD * i)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

/** True where words have no bits beyond those of their types; undefined where not all types are of one word, or bytes lack. */
export function areCleanWords(types: readonly string[], data: Uint8Array): boolean | undefined {
  if (wordReaders(types) === undefined || data.length < WORD * types.length) return undefined
  return types.every((type, i) => isClean(type, readUnsigned(data, WORD * i)))
}

function isClean(type: string, value: bigint): boolean {
  const [, kind, digits = ''] = /^(u?int|bytes)(\d*)$/.exec(type) ?? []
  const bits = BigInt(type === 'address' ? 160 : type === 'bool' ? 1 : digits || 256)
  if (kind === 'int') return BigInt.asUintN(256, BigInt.asIntN(Number(bits), value)) === value
  if (kind === 'bytes') return BigInt.asUintN(256 - 8 * Number(bits), value) === 0n
  return value >> bits === 0n
}

function readerOf(type: string): WordReader | undefined {
  if (type === 'address') {
    return (data, at) => hexFromBytes(data.subarray(at + ADDRESS_AT, at + WORD))
  }
  if (type === 'bool') return readBoolean
  const [, kind, digits = ''] = /^(u?int|bytes)(\d*)$/.exec(type) ?? []
  if (kind === undefined) return undefined
  const size = Number(digits)
  if (kind === 'bytes') {
    if (size < 1 || size > WORD) return undefined
    return (data, at) => hexFromBytes(data.subarray(at, at + size))
  }
  const isNumber = digits !== '' && size <= MOST_BITS_OF_NUMBER
  const read = kind === 'int' ? readSigned : readUnsigned
  return isNumber ? (data, at) => safeNumber(read(data, at)) : read
}

/** More than a number holds does not fit. */
function safeNumber(value: bigint): number | undefined {
  const read = Number(value)
  return Number.isSafeInteger(read) ? read : undefined
}

function readBoolean(data: Uint8Array, at: number): boolean | undefined {
  const last = data[at + WORD - 1]!
  return last <= 1 && isZero(data, at, at + WORD - 1) ? last === 1 : undefined
}

function readSigned(data: Uint8Array, at: number): bigint {
  return BigInt.asIntN(8 * WORD, readUnsigned(data, at))
}

/** Most numbers are small. */
function readUnsigned(data: Uint8Array, at: number): bigint {
  if (!isZero(data, at, at + LAST_EIGHT)) return BigInt(hexFromBytes(data.subarray(at, at + WORD)))
  const high = uint32At(data, at + LAST_EIGHT)
  const low = uint32At(data, at + LAST_FOUR)
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
}

function uint32At(data: Uint8Array, at: number): number {
  return ((data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!) >>> 0
}

function isZero(data: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (data[at] !== 0) return false
  return true
}
