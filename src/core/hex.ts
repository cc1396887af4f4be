// Converts between hexadecimal text and bytes, and defines the branded types.
import { invalidParams, printValue } from './errors.ts'

/** A `T` that was checked to be a `Name`. Published types are plain `T`: programs pass what viem and ethers give them. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name }

export type Address = Brand<Hex, 'Address'>

export type Hash = Brand<Hex, 'Hash'>

export type Hex = `0x${string}`

export const ZERO_ADDRESS: Address = `0x${'00'.repeat(20)}` as Address
export const ZERO_HASH: Hash = `0x${'00'.repeat(32)}` as Hash
export const EMPTY_BYTES: Uint8Array = new Uint8Array(0)

/** @throws {DevchainError} `INVALID_PARAMS` if `text` is not an address, in any letter case */
export function parseAddress(text: string): Address {
  return parseFixed(text, 20, 'address') as Address
}

/** @throws {DevchainError} `INVALID_PARAMS` if `text` is not a 32-byte hash, in any letter case */
export function parseHash(text: string): Hash {
  return parseFixed(text, 32, 'hash') as Hash
}

function parseFixed(text: string, size: number, noun: string): string {
  if (text.length === 2 + 2 * size && isBytes(text)) return text.toLowerCase()
  throw invalidParams(`expected a ${size}-byte ${noun}, got ${printValue(text)}`)
}

/**
 * True for 0x and pairs of digits. The expression searches for a non-digit: counting pairs would overflow the stack on long
 * text.
 */
export function isBytes(text: string): boolean {
  return text.length % 2 === 0 && text.startsWith('0x') && !/[^0-9a-fA-F]/.test(text.slice(2))
}

/** @throws {DevchainError} `INVALID_PARAMS` if `text` is not `0x` and pairs of digits, in any letter case */
export function parseBytes(text: string): Uint8Array {
  if (!isBytes(text)) {
    const odd = isBytes(`${text}0`) ? ' (an odd number of digits)' : ''
    throw invalidParams(`expected 0x-prefixed bytes, got ${printValue(text)}${odd}`)
  }
  return bytesFromHex(text)
}

/** Up to this many bytes, own code is faster than Node's. Node's results also keep their 8 KB pool alive. */
const SHORT = 64

const DIGITS: Uint8Array = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

const TEXT: Buffer = Buffer.from(`0x${'00'.repeat(SHORT)}`)

/** `text` is trusted: `0x`, then an even number of digits. */
export function bytesFromHex(text: string): Uint8Array {
  const length = (text.length - 2) >> 1
  if (length === 0) return EMPTY_BYTES
  if (length > SHORT) return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
  const bytes = new Uint8Array(length)
  putHex(bytes, 0, text)
  return bytes
}

/** Writes the bytes of `text` from `at` on. @param first the place of its first digit */
export function putHex(bytes: Uint8Array, at: number, text: string, first = 2): void {
  for (let i = first, to = at; i < text.length; i += 2) {
    bytes[to++] = (digitAt(text, i) << 4) | digitAt(text, i + 1)
  }
}

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return (code & 15) + 9 * (code >> 6)
}

export function hexFromBytes(bytes: Uint8Array): Hex {
  const { length } = bytes
  if (length > SHORT) {
    return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex')}`
  }
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!
    TEXT[2 * i + 2] = DIGITS[byte >> 4]!
    TEXT[2 * i + 3] = DIGITS[byte & 15]!
  }
  return TEXT.toString('latin1', 0, 2 * length + 2) as Hex
}

export function addressFromBytes(bytes: Uint8Array): Address {
  return hexFromBytes(
    bytes.length === 20 ? bytes : bytes.subarray(bytes.length - 20),
  ) as string as Address
}

export function hashFromBytes(bytes: Uint8Array): Hash {
  return hexFromBytes(bytes) as string as Hash
}

/** A QUANTITY of JSON-RPC: no leading zeros; zero is `0x0`. */
export function quantityFromBigint(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** Big-endian, modulo 2^256. */
export function wordFromBigint(value: bigint): Hash {
  return `0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}` as Hash
}

/** Big-endian; no bytes are zero. */
export function bigintFromBytes(bytes: Uint8Array): bigint {
  if (bytes.length > 6) return BigInt(hexFromBytes(bytes))
  let number = 0
  for (const byte of bytes) number = number * 256 + byte
  return BigInt(number)
}

/** The shortest big-endian form; zero is no bytes. */
export function bytesFromBigint(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY_BYTES
  const digits = value.toString(16)
  return bytesFromHex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`)
}

/** Big-endian; drops higher bits. */
export function paddedBytes(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let rest = BigInt.asUintN(8 * length, value)
  // four bytes at a time, which fit in a number
  for (let end = length; rest > 0n; end -= 4, rest >>= 32n) {
    let part = Number(BigInt.asUintN(32, rest))
    for (let at = end - 1; part > 0; at--, part >>>= 8) bytes[at] = part
  }
  return bytes
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && Buffer.compare(a, b) === 0)
}
