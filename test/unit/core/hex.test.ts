// Hex text, bytes and integers: what is read, what is refused, and that the way back is the way there.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DevchainError, printValue } from '../../../src/core/errors.ts'
import {
  bigintFromBytes,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  equalBytes,
  hexFromBytes,
  paddedBytes,
  parseAddress,
  parseBytes,
  parseHash,
  quantityFromBigint,
  wordFromBigint,
} from '../../../src/core/hex.ts'
import { nearest } from '../../../src/core/nearest.ts'

const seeded = { seed: 20261121, numRuns: 200 }

describe('a hex parser', () => {
  test('accepts letters of any case and returns lower case', () => {
    expect(parseAddress(`0x${'aB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
    expect(parseHash(`0x${'Cd'.repeat(32)}`)).toBe(`0x${'cd'.repeat(32)}`)
    expect(parseBytes('0xFf')).toEqual(Uint8Array.of(255))
  })

  test('accepts as many bytes as a dump has', () => {
    const long = `0x${'ab'.repeat(10_000_000)}`
    expect(parseBytes(long)).toHaveLength(10_000_000)
    expect(() => parseBytes(`${long}c`)).toThrow('(an odd number of digits)')
    expect(() => parseBytes(`${long}zz`)).toThrow('expected 0x-prefixed bytes')
  })

  test.each([
    [
      'an address that is short',
      () => parseAddress('0x12'),
      'expected a 20-byte address, got "0x12"',
    ],
    ['an address without 0x', () => parseAddress('ab'.repeat(20)), 'expected a 20-byte address'],
    [
      'a hash with a stray letter',
      () => parseHash(`0x${'zz'.repeat(32)}`),
      'expected a 32-byte hash',
    ],
    ['an odd number of digits', () => parseBytes('0x123'), '(an odd number of digits)'],
    ['bytes without 0x', () => parseBytes('12'), 'expected 0x-prefixed bytes, got "12"'],
    ['bytes with other characters', () => parseBytes('0xgg'), 'got "0xgg"'],
  ])('refuses %s', (_, attempt, message) => {
    expect(attempt).toThrow(message)
    expect(attempt).toThrow(DevchainError)
  })

  test('quotes a long value on one short line of its message', () => {
    expect(printValue('x'.repeat(500))).toHaveLength(100)
    expect(printValue({ a: 1n.toString() })).toBe('{"a":"1"}')
    expect(printValue(undefined)).toBe('undefined')
    expect(printValue(12n)).toBe('12')
    expect(printValue('two\nlines')).toBe('"two\\nlines"')
  })

  test.each([
    ['https://rpc.example.io/v3/abcdef0123456789', '"https://rpc.example.io/v3/…"'],
    ['https://rpc.example.io?key=abcdef0123456789&x=1', '"https://rpc.example.io?key=…&x=1"'],
    ['http://user:pass@127.0.0.1:8545/alice', '"http://…@127.0.0.1:8545/alice"'],
    [{ a: ['wss://h/abcdef0123456789/ws'], b: 'c' }, '{"a":["wss://h/…/ws"],"b":"c"}'],
    [`https://rpc.example.io/${'ab'.repeat(10_000)}`, '"https://rpc.example.io/…'],
    ['enode://abc@127.0.0.1:30303', '"enode://abc@127.0.0.1:30303"'],
    ['0xabcdef0123456789abcdef', '"0xabcdef0123456789abcdef"'],
  ])('leaves the keys of a URL out of its message: %j', (value, shown) => {
    expect(printValue(value)).toBe(shown)
  })

  test('names a value that JSON cannot hold', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(printValue({ value: 12n })).toBe('{"value":"12"}')
    expect(printValue(cycle)).toBe('[object Object]')
    expect(printValue(Symbol('fee'))).toBe('Symbol(fee)')
    expect(printValue(Object.assign(() => 1, { toString: () => 'a\n  b' }))).toBe('a b')
  })
})

describe('hex', () => {
  test('returns the bytes that it was made from', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200, size: 'max' }), (bytes) => {
        const text = hexFromBytes(bytes)
        expect(text).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
        expect(bytesFromHex(text)).toEqual(bytes)
        expect(bytesFromHex(`0x${text.slice(2).toUpperCase()}`)).toEqual(bytes)
      }),
      seeded,
    )
  })

  test.each([63, 64, 65])('is right at the length from which node writes it: %i', (length) => {
    const bytes = new Uint8Array(length).map((_, i) => 255 - i)
    expect(hexFromBytes(bytes)).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
    expect(bytesFromHex(hexFromBytes(bytes))).toEqual(bytes)
  })

  test('of an integer with too few bytes loses the high ones; a negative integer wraps around', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 260n), 2n ** 260n), fc.nat({ max: 40 }), (value, length) => {
        const digits = BigInt.asUintN(8 * length, value)
          .toString(16)
          .padStart(2 * length, '0')
        const expected = length === 0 ? '0x' : `0x${digits}`
        expect(hexFromBytes(paddedBytes(value, length))).toBe(expected)
      }),
      seeded,
    )
  })

  test('of an integer in its shortest bytes returns the integer', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n - 1n), (value) => {
        const bytes = bytesFromBigint(value)
        expect(bigintFromBytes(bytes)).toBe(value)
        expect(bytes[0]).not.toBe(0)
        expect(bigintFromBytes(paddedBytes(value, 32))).toBe(value)
        expect(BigInt(wordFromBigint(value))).toBe(value)
        expect(BigInt(quantityFromBigint(value))).toBe(value)
      }),
      seeded,
    )
  })

  test('of zero has no bytes as an integer, and one digit as a QUANTITY', () => {
    expect(bytesFromBigint(0n)).toHaveLength(0)
    expect(quantityFromBigint(0n)).toBe('0x0')
  })

  test('is concatenated from parts, and equal bytes compare equal', () => {
    const whole = concatBytes(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3))
    expect(equalBytes(whole, Uint8Array.of(1, 2, 3))).toBe(true)
    expect(equalBytes(whole, Uint8Array.of(1, 2))).toBe(false)
  })
})

test('nearest suggests the nearest word, or none when none is near', () => {
  const words = ['eth_getBalance', 'eth_getBlockByHash', 'evm_mine']
  expect(nearest('eth_getbalanse', words)).toBe('eth_getBalance')
  expect(nearest('emv_mine', words)).toBe('evm_mine')
  expect(nearest('emv_mine', words, 1), 'two letters swapped are one edit').toBe('evm_mine')
  expect(nearest('evm_mien', ['evm_mine', 'evm_mint'], 1)).toBe('evm_mine')
  expect(nearest('somethingElse', words)).toBeUndefined()
  expect(nearest('x'.repeat(100_000), words)).toBeUndefined()
})
