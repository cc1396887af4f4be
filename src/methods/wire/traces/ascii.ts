// Text of numbers, written as bytes where strings would be too many: each function writes from a place on and gives the place
// behind what it wrote. The room is the caller's to have.

const ZERO = 0x30

/** Bytes of text that has characters of ASCII alone. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

export function writeBytes(target: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i] as number
  return at + bytes.length
}

/** Digits that a number has at most. */
export const MOST_DIGITS = 78

export function writeDecimal(target: Uint8Array, at: number, value: number): number {
  if (value >= 2 ** 31) return writeText(target, at, BigInt(value).toString())
  let rest = value | 0
  let end = at + 1
  for (let bound = 10; bound <= rest; bound *= 10) end += 1
  let place = end
  do {
    const tens = (rest / 10) | 0
    place -= 1
    target[place] = ZERO + rest - tens * 10
    rest = tens
  } while (rest > 0)
  return end
}

/** The same of one that may be larger. */
export function writeBigDecimal(target: Uint8Array, at: number, value: bigint): number {
  if (value <= MOST_INTEGER) return writeDecimal(target, at, Number(value))
  return writeText(target, at, value.toString())
}

const MOST_INTEGER = 2n ** 31n - 1n

/** The hexadecimal digits of a natural number, at least one. */
export function writeHex(target: Uint8Array, at: number, value: bigint): number {
  if (value > MOST_INTEGER) return writeText(target, at, value.toString(16))
  let rest = Number(value) | 0
  let end = at + 1
  for (let above = rest >> 4; above > 0; above >>= 4) end += 1
  let place = end
  do {
    const digit = rest & 15
    place -= 1
    target[place] = digit < 10 ? ZERO + digit : LETTERS + digit
    rest >>= 4
  } while (rest > 0)
  return end
}

/** The letter a is ten. */
const LETTERS = 0x61 - 10

function writeText(target: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i)
  return at + text.length
}
