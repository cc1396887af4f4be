// The schemas that everything else is put together from: what they take, what they refuse, and what they say of it.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DevchainError } from '../../src/core/errors.ts'
import {
  address,
  anything,
  boolean,
  data,
  enumeration,
  hash,
  list,
  nullable,
  quantity,
  quantityNumber,
  text,
} from '../../src/rpc/primitives.ts'
import type { Decoder } from '../../src/rpc/schema.ts'

const ADDRESS = '0xfe3b557e8fb62b89f4916b721be55ceb828dbd73'
const HASH = `0x${'ab'.repeat(32)}`

function complaint(decoder: Decoder<unknown>, value: unknown): string {
  try {
    return `it took ${String(decoder.decode(value, 'here'))}`
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    expect(error.word).toBe('INVALID_PARAMS')
    return error.message
  }
}

describe('a schema accepts', () => {
  test.each<[string, Decoder<unknown>, unknown, unknown]>([
    ['address', address, ADDRESS, ADDRESS],
    ['address in capitals', address, ADDRESS.toUpperCase().replace('0X', '0x'), ADDRESS],
    ['address without 0x', address, ADDRESS.slice(2), ADDRESS],
    ['hash', hash, HASH.toUpperCase().replace('0X', '0x'), HASH],
    ['hash without 0x', hash, HASH.slice(2), HASH],
    ['data', data, '0x00fF', Uint8Array.of(0, 255)],
    ['no data', data, '0x', new Uint8Array()],
    ['quantity in hex', quantity, '0xfF', 255n],
    ['quantity with leading zeros', quantity, '0x00ff', 255n],
    ['quantity in decimal', quantity, '255', 255n],
    ['quantity as a number', quantity, 255, 255n],
    ['zero', quantity, 0, 0n],
    ['the largest quantity', quantity, `0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['a count', quantityNumber, '0x10', 16],
    ['the largest count', quantityNumber, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['boolean', boolean, false, false],
    ['boolean as text', boolean, 'true', true],
    ['text', text, '', ''],
    ['list', list(quantity), ['0x1', 2], [1n, 2n]],
    ['empty list', list(quantity), [], []],
    ['word', enumeration(['a', 'b']), 'b', 'b'],
    ['anything', anything, { a: [null] }, { a: [null] }],
  ])('%s', (_what, decoder, value, expected) => {
    expect(decoder.decode(value, 'here')).toEqual(expected)
  })
})

describe('a schema refuses', () => {
  const wrong: readonly [string, Decoder<unknown>, string, readonly unknown[]][] = [
    [
      'address',
      address,
      'a 20-byte address',
      [
        '',
        '0x',
        ADDRESS.slice(0, -1),
        `${ADDRESS}0`,
        ADDRESS.replace('f', 'g'),
        `0X${ADDRESS.slice(2)}`,
        ` ${ADDRESS}`,
        `${ADDRESS}\n`,
        5,
        null,
        [ADDRESS],
        {},
        true,
      ],
    ],
    [
      'hash',
      hash,
      '32 bytes as 0x and 64 digits',
      ['', '0x', HASH.slice(0, -2), `${HASH}00`, HASH.replace('a', 'x'), 5, null, [], {}],
    ],
    [
      'data',
      data,
      'bytes as 0x and pairs of digits',
      ['', 'abcd', '0xzz', '0x 12', '0X12', '0x12\n', 18, null, [], {}],
    ],
    ['odd data', data, 'an even number of hex digits', ['0x1', '0x123']],
    [
      'quantity',
      quantity,
      'a quantity (0x hex or decimal)',
      [
        '',
        '0x',
        'x',
        '-1',
        '-0x1',
        '1.5',
        '1e3',
        '0b1',
        '0xg',
        ' 1',
        '1\n',
        '1_000',
        -1,
        1.5,
        Number.NaN,
        true,
        null,
        [],
        {},
        `0x${'0'.repeat(300)}1`,
      ],
    ],
    [
      'inexact quantity',
      quantity,
      'a quantity above 2^53 - 1 as text (0x hex or decimal)',
      [2 ** 53, 1e18],
    ],
    [
      'oversized quantity',
      quantity,
      'a quantity of at most 256 bits (64 hex digits)',
      [`0x1${'0'.repeat(64)}`, `0x${'0'.repeat(65)}`, `${2n ** 256n}`],
    ],
    [
      'count',
      quantityNumber,
      'a quantity of at most 9007199254740991',
      ['0x20000000000000', `${2n ** 53n}`],
    ],
    ['boolean', boolean, 'true or false', [0, 1, '', 'yes', 'TRUE', null, [], {}]],
    ['text', text, 'text', [0, true, null, [], {}]],
    ['list', list(quantity), 'a list of quantity', ['0x1', 5, null, { 0: 1, length: 1 }]],
    ['word', enumeration(['a', 'b']), 'one of a, b', ['', 'c', 'A', 0, null, ['a']]],
  ]
  const cases = wrong.flatMap(([what, decoder, expected, values]) =>
    values.map((value) => ({ what, decoder, expected, value })),
  )
  test.each(cases)('$what: $value', ({ decoder, expected, value }) => {
    expect(complaint(decoder, value)).toMatch(`here: expected ${expected}, got `)
  })

  test('a list item with its index', () => {
    expect(complaint(list(list(quantity)), [['0x1'], ['0x2', 'x']])).toBe(
      'here[1][1]: expected a quantity (0x hex or decimal), got "x"',
    )
  })

  test('any value on one line of bounded length', () => {
    expect(complaint(address, 'line\nbreak')).toContain('got "line\\nbreak"')
    expect(complaint(data, `0xzz${'ff'.repeat(1e6)}`).length).toBeLessThan(200)
  })
})

describe('an encoded value', () => {
  test('decodes to the same value', () => {
    const ofBits = (bits: number): fc.Arbitrary<bigint> =>
      fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
    fc.assert(
      fc.property(ofBits(256), fc.uint8Array({ size: 'max', maxLength: 100 }), (number, bytes) => {
        expect(quantity.decode(quantity.encode(number), '')).toBe(number)
        expect(data.decode(data.encode(bytes), '')).toEqual(bytes)
        expect(list(quantity).encode([number, number])).toEqual([
          quantity.encode(number),
          quantity.encode(number),
        ])
      }),
      { seed: 6 },
    )
  })

  test('is minimal hex', () => {
    expect(quantity.encode(0n)).toBe('0x0')
    expect(quantity.encode(16n)).toBe('0x10')
    expect(quantityNumber.encode(255)).toBe('0xff')
    expect(data.encode(new Uint8Array())).toBe('0x')
  })

  test('may be null if the schema allows', () => {
    const maybe = nullable(quantity)
    expect([maybe.encode(null), maybe.encode(undefined), maybe.encode(0n)]).toEqual([
      null,
      null,
      '0x0',
    ])
  })
})

describe('the JSON Schema', () => {
  const schemas = {
    address,
    hash,
    data,
    quantity,
    boolean,
    text,
    list: list(quantity),
    word: enumeration(['a', 'b']),
  }

  test.each(Object.entries(schemas))('of %s matches what is encoded', (_name, schema) => {
    const validate = new Ajv2020({ strict: false }).compile(schema.json)
    const samples: Readonly<Record<string, unknown>> = {
      address: ADDRESS,
      hash: HASH,
      data: '0x00ff',
      quantity: '0xff',
      boolean: true,
      text: 'x',
      'list of quantity': ['0x1'],
      'a | b': 'a',
    }
    expect(validate(samples[schema.name])).toBe(true)
    expect(validate({})).toBe(false)
    expect(validate(null)).toBe(false)
  })
})
