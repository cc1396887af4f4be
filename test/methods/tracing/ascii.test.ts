// Numbers written as bytes are the text that strings would be.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ascii,
  MOST_DIGITS,
  writeBigDecimal,
  writeBytes,
  writeDecimal,
  writeHex,
} from '../../../src/methods/wire/traces/ascii.ts'

const word = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 33n }),
  fc.integer({ min: 0, max: 255 }).map((power) => 2n ** BigInt(power)),
  fc.integer({ min: 1, max: 255 }).map((power) => 2n ** BigInt(power) - 1n),
  fc.integer({ min: 0, max: 77 }).map((power) => 10n ** BigInt(power)),
  fc.integer({ min: 1, max: 77 }).map((power) => 10n ** BigInt(power) - 1n),
)

/** What a function writes from a place on, which must leave all around it as it is. */
function textOf(write: (target: Uint8Array, at: number) => number): string {
  const target = new Uint8Array(MOST_DIGITS + 20).fill(0x2e)
  const end = write(target, 10)
  const text = Buffer.from(target).toString('latin1')
  expect(text.slice(0, 10) + text.slice(end)).toMatch(/^\.+$/)
  return text.slice(10, end)
}

describe('numbers as bytes', () => {
  test('have the digits that strings have', () => {
    fc.assert(
      fc.property(word, (value) => {
        expect(textOf((target, at) => writeBigDecimal(target, at, value))).toBe(`${value}`)
        expect(textOf((target, at) => writeHex(target, at, value))).toBe(value.toString(16))
      }),
      { numRuns: 2_000 },
    )
  })

  test('have all digits of a safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(textOf((target, at) => writeDecimal(target, at, value))).toBe(`${value}`)
      }),
    )
  })

  test('stand among text', () => {
    expect(textOf((target, at) => writeBytes(target, at, ascii('"gas":')))).toBe('"gas":')
  })
})
