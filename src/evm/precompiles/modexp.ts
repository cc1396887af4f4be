// Modular exponentiation (EIP-198), with prices of EIP-2565 and EIP-7883 and bounds of EIP-7823.
import { larger } from '../../core/bigints.ts'
import { bigintFromBytes } from '../../core/hex.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { type PrecompileCode, paddedSlice, UNPAYABLE } from './precompile.ts'

const HEADER = 96

/** Limits base, exponent and modulus since osaka, in bytes. */
const OSAKA_LENGTH = 1024n

/** Before osaka: longer numbers cost some 10^12 gas and exceed what bigints can do. */
const LONGEST = 2n ** 24n
const LONGEST_EXPONENT = 2n ** 31n - 1n

type Lengths = Readonly<Record<'base' | 'exponent' | 'modulus', bigint>>

export function modexp(hardfork: Hardfork): PrecompileCode {
  const isOsaka = isAtLeast(hardfork, 'osaka')
  const longest = isOsaka ? OSAKA_LENGTH : LONGEST
  const longestExponent = isOsaka ? OSAKA_LENGTH : LONGEST_EXPONENT
  const priceOf = pricing(hardfork)
  const gas = (input: Uint8Array): bigint => {
    const lengths = lengthsOf(input)
    const price = priceOf(lengths, iterationBits(input, lengths))
    const isEmpty = longestOf(lengths) === 0n
    if (isEmpty && !isOsaka) return price
    const isTooLong = longestOf(lengths) > longest || lengths.exponent > longestExponent
    return isTooLong ? UNPAYABLE : price
  }
  return { gas, run }
}

/** True if the base or modulus is too long to compute with, whatever the gas. */
export function isTooLongToCompute(input: Uint8Array): boolean {
  return longestOf(lengthsOf(input)) > LONGEST
}

function run(input: Uint8Array): Uint8Array {
  const { base, exponent, modulus } = lengthsOf(input)
  if (modulus === 0n) return new Uint8Array()
  const [baseLength, exponentLength, length] = [base, exponent, modulus].map(Number) as [
    number,
    number,
    number,
  ]
  const numberAt = (offset: number, size: number): bigint =>
    bigintFromBytes(paddedSlice(input, offset, size))
  const divisor = numberAt(HEADER + baseLength + exponentLength, length)
  if (divisor <= 1n) return new Uint8Array(length)
  const exponentBytes = paddedSlice(input, HEADER + baseLength, exponentLength)
  const value = power(numberAt(HEADER, baseLength) % divisor, exponentBytes, divisor)
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex')
}

/** By squaring and multiplying; `modulus` is above 1. */
function power(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  let result = 1n
  for (const byte of exponent) {
    for (let bit = 128; bit > 0; bit >>= 1) {
      if (result !== 1n) result = (result * result) % modulus
      if ((byte & bit) !== 0) result = (result * base) % modulus
    }
  }
  return result
}

function lengthsOf(input: Uint8Array): Lengths {
  const header = paddedSlice(input, 0, HEADER)
  const word = (i: number): bigint => bigintFromBytes(header.subarray(32 * i, 32 * i + 32))
  return { base: word(0), exponent: word(1), modulus: word(2) }
}

/** The highest bit of the first 32 bytes, plus the length of the rest. */
function iterationBits(
  input: Uint8Array,
  { base, exponent }: Lengths,
): { readonly head: bigint; readonly tail: bigint } {
  const tail = exponent > 32n ? exponent - 32n : 0n
  const start = base > BigInt(input.length) ? input.length : HEADER + Number(base)
  const head = bigintFromBytes(paddedSlice(input, start, Number(exponent < 32n ? exponent : 32n)))
  return { head: head === 0n ? 0n : BigInt(head.toString(2).length - 1), tail }
}

type Price = (lengths: Lengths, bits: { readonly head: bigint; readonly tail: bigint }) => bigint

function pricing(hardfork: Hardfork): Price {
  if (isAtLeast(hardfork, 'osaka')) return priceOfOsaka
  return isAtLeast(hardfork, 'berlin') ? priceOfBerlin : priceOfByzantium
}

const priceOfByzantium: Price = (lengths, { head, tail }) =>
  (complexityOfByzantium(longestOf(lengths)) * larger(head + 8n * tail, 1n)) / 20n

const priceOfBerlin: Price = (lengths, { head, tail }) => {
  const words = (longestOf(lengths) + 7n) / 8n
  return larger((words * words * larger(head + 8n * tail, 1n)) / 3n, 200n)
}

const priceOfOsaka: Price = (lengths, { head, tail }) => {
  const length = longestOf(lengths)
  const words = (length + 7n) / 8n
  const complexity = length > 32n ? 2n * words * words : 16n
  return larger(complexity * larger(head + 16n * tail, 1n), 500n)
}

function complexityOfByzantium(length: bigint): bigint {
  if (length <= 64n) return length * length
  if (length <= 1024n) return (length * length) / 4n + 96n * length - 3_072n
  return (length * length) / 16n + 480n * length - 199_680n
}

function longestOf({ base, modulus }: Lengths): bigint {
  return larger(base, modulus)
}
