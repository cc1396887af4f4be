// Reasons in words.
import { describe, expect, test } from 'vitest'
import { bytesFromHex, concatBytes, paddedBytes } from '../../../src/core/hex.ts'
import { describeHalt, describeRevert } from '../../../src/evm/reasons.ts'

/** ABI encoding of Error(string). */
function errorData(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const padding = new Uint8Array((32 - (bytes.length % 32)) % 32)
  return concatBytes(
    bytesFromHex('0x08c379a0'),
    paddedBytes(32n, 32),
    paddedBytes(BigInt(bytes.length), 32),
    bytes,
    padding,
  )
}

const panicData = (code: bigint) => concatBytes(bytesFromHex('0x4e487b71'), paddedBytes(code, 32))

describe('the reason of a revert', () => {
  test.each([
    ['with a reason', errorData('too small'), 'revert too small'],
    ['with an empty reason', errorData(''), 'revert'],
    ['with a reason of many lines', errorData('a\n\u001b[31mb'), 'revert a [31mb'],
    ['with a reason in another script', errorData('zu groß'), 'revert zu groß'],
    ['without data', new Uint8Array(), 'revert'],
    ['of a failed assertion', panicData(0x01n), 'revert panic 0x01 (assertion failed)'],
    ['of an overflow', panicData(0x11n), 'revert panic 0x11 (arithmetic overflow)'],
    ['of a division', panicData(0x12n), 'revert panic 0x12 (division by zero)'],
    ['of an enum', panicData(0x21n), 'revert panic 0x21 (invalid enum value)'],
    ['of stored bytes', panicData(0x22n), 'revert panic 0x22 (corrupt storage byte array)'],
    ['of a pop', panicData(0x31n), 'revert panic 0x31 (pop on empty array)'],
    ['of an index', panicData(0x32n), 'revert panic 0x32 (array index out of bounds)'],
    ['of memory', panicData(0x41n), 'revert panic 0x41 (out of memory)'],
    ['of a function', panicData(0x51n), 'revert panic 0x51 (call of an uninitialized function)'],
    ['of the compiler', panicData(0x00n), 'revert panic 0x00 (generic panic)'],
    ['of an unknown panic', panicData(0x99n), 'revert panic 0x99'],
    ['with a custom error', bytesFromHex('0x2202f1fa'), 'revert custom error 0x2202f1fa'],
    [
      'with a custom error and an argument',
      concatBytes(bytesFromHex('0x2202f1fa'), paddedBytes(5n, 32)),
      `revert custom error 0x2202f1fa 0x${'5'.padStart(64, '0')}`,
    ],
    [
      'with a custom error and many arguments',
      concatBytes(bytesFromHex('0x2202f1fa'), new Uint8Array(96)),
      'revert custom error 0x2202f1fa',
    ],
    ['with less than a selector', bytesFromHex('0xabcd'), 'revert 2 bytes of data: 0xabcd'],
    ['with a byte', bytesFromHex('0xab'), 'revert 1 byte of data: 0xab'],
    [
      'with a word, which is no error',
      paddedBytes(3n, 32),
      `revert 32 bytes of data: 0x${'3'.padStart(64, '0')}`,
    ],
    ['with many words', new Uint8Array(320), 'revert 320 bytes of data'],
    ['with a broken reason', bytesFromHex('0x08c379a0'), 'revert custom error 0x08c379a0'],
    [
      'with a reason that lies about its length',
      concatBytes(bytesFromHex('0x08c379a0'), paddedBytes(32n, 32), paddedBytes(2n ** 255n, 32)),
      `revert custom error 0x08c379a0 0x${'20'.padStart(64, '0')}8${'0'.repeat(63)}`,
    ],
  ])('is read: %s', (_name, data, words) => {
    expect(describeRevert(data)).toBe(words)
  })

  test('is read from a view into a longer buffer', () => {
    const padded = concatBytes(new Uint8Array(7), errorData('too small'))
    expect(describeRevert(padded.subarray(7))).toBe('revert too small')
  })

  test('is cut if it is very long', () => {
    expect(describeRevert(errorData('x'.repeat(5000))).length).toBeLessThan(1100)
  })
})

describe('the reason of a halt', () => {
  test.each([
    ['out of gas', undefined, 'out of gas'],
    ['invalid opcode', 0xfe, 'invalid opcode 0xfe'],
    ['invalid opcode', 0x0c, 'invalid opcode 0x0c'],
    ['invalid JUMP', 0x56, 'invalid jump destination'],
    ['invalid JUMP at 0xab/0xcd:7', 0x56, 'invalid jump destination'],
    ['create collision', undefined, 'contract address collision'],
    ['stack underflow', 0x01, 'stack underflow'],
  ])('is %s (operation %s)', (error, opcode, words) => {
    expect(describeHalt(error, opcode)).toBe(words)
  })
})
