// Recursive Length Prefix: every item comes back, and every other byte string is refused, as @ethereumjs/rlp does it.
import { RLP } from '@ethereumjs/rlp'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import {
  joinRlp,
  listSize,
  scratchRlp,
  stringSize,
  writeRlp,
  writeTypedRlp,
} from '../../../src/core/fastrlp/writer.ts'
import {
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  type Hash,
  hashFromBytes,
  hexFromBytes,
} from '../../../src/core/hex.ts'
import {
  decodeRlp,
  decodeRlpItem,
  encodedItems,
  encodeRlp,
  type RlpItem,
  type RlpValue,
} from '../../../src/core/rlp.ts'

const seeded = { seed: 20261121, numRuns: 500 }

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 80, size: 'max' }),
    fc.array(tie('item'), { maxLength: 5 }),
  ),
}))

/** The decoded item, or undefined for what is refused. */
function attempt(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): unknown {
  try {
    return decode(bytes)
  } catch {
    return undefined
  }
}

/** `depth` lists, each the only item of the one around it. */
function nestedLists(depth: number): Uint8Array {
  const heads: Uint8Array[] = []
  let size = 0
  for (let i = 0; i < depth; i++) {
    const head = size < 56 ? Uint8Array.of(0xc0 + size) : longHead(size)
    heads.push(head)
    size += head.length
  }
  return Uint8Array.from(Buffer.concat(heads.reverse()))
}

function longHead(size: number): Uint8Array {
  const digits = size.toString(16)
  const length = bytesFromHex(`0x${digits.length % 2 === 0 ? '' : '0'}${digits}`)
  return concatBytes(Uint8Array.of(0xf7 + length.length), length)
}

describe('RLP', () => {
  test('decodes to the item that was encoded', () => {
    fc.assert(
      fc.property(item, (value) => {
        expect(decodeRlp(encodeRlp(value))).toEqual(value)
      }),
      seeded,
    )
  })

  test('of a list of encoded items equals the encoding of the list', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), (items) => {
        expect(joinRlp(items.map(encodeRlp))).toEqual(encodeRlp(items))
      }),
      seeded,
    )
  })

  test('has list items that can be found without decoding them', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), (items) => {
        expect(encodedItems(encodeRlp(items), 8)).toEqual(items.map(encodeRlp))
        items.forEach((_, index) => {
          expect(decodeRlpItem(encodeRlp(items), index)).toEqual(decodeRlp(encodeRlp(items))[index])
        })
      }),
      seeded,
    )
    expect(() => encodedItems(Uint8Array.of(1), 8)).toThrow('the item is not a list')
    expect(() => decodeRlpItem(Uint8Array.of(1), 0)).toThrow('the item is not a list')
    expect(() => decodeRlpItem(encodeRlp([Uint8Array.of(1)]), 1)).toThrow('there are no bytes')
  })

  test('equals the encoding of @ethereumjs/rlp', () => {
    fc.assert(
      fc.property(item, (value) => {
        const encoded = RLP.encode(value as Uint8Array)
        const results = [encodeRlp(value), writeRlp(value), scratchRlp(value, 3).slice(3)]
        expect(results).toEqual([encoded, encoded, encoded])
      }),
      seeded,
    )
  })

  test('of integers and hashes equals the RLP of their bytes', () => {
    const integer = fc.oneof(
      fc.bigInt({ min: 0n, max: 300n }),
      fc.bigInt({ min: 2n ** 48n - 2n, max: 2n ** 48n + 2n }),
      fc
        .integer({ min: 0, max: 600 })
        .chain((bits) => fc.bigInt({ min: 0n, max: 1n << BigInt(bits) })),
    )
    const text = fc.uint8Array({ minLength: 1, maxLength: 60 }).map(hashFromBytes)
    fc.assert(
      fc.property(fc.array(fc.oneof(integer, text), { maxLength: 20 }), (values) => {
        const bytes = values.map((value) =>
          typeof value === 'bigint' ? bytesFromBigint(value) : bytesFromHex(value),
        )
        expect(hexFromBytes(writeRlp(values))).toBe(hexFromBytes(RLP.encode(bytes)))
      }),
      seeded,
    )
  })

  test.each([1_000, 65_525, 65_536, 70_000, 300_000])(
    'of an item of %i bytes among others is complete',
    (length) => {
      const long = new Uint8Array(length).map((_, i) => i)
      const values: RlpValue[] = [1n, [long, 2n ** 255n], hexFromBytes(long) as Hash, long]
      const bytes = [Uint8Array.of(1), [long, bytesFromBigint(2n ** 255n)], long, long]
      for (const written of [writeRlp(values), scratchRlp(values)]) {
        expect(Buffer.compare(written, RLP.encode(bytes))).toBe(0)
      }
      expect(writeRlp(3n)).toEqual(Uint8Array.of(3))
    },
  )

  test('of a typed value begins with the type, except type 0', () => {
    expect(writeTypedRlp(2, [1n])).toEqual(Uint8Array.of(2, 0xc1, 1))
    expect(writeTypedRlp(0, [1n])).toEqual(Uint8Array.of(0xc1, 1))
  })

  test('has a size that is known without encoding', () => {
    for (const length of [0, 1, 2, 55, 56, 255, 256, 65_535, 65_536]) {
      const string = new Uint8Array(length).fill(0x70)
      expect(stringSize(string)).toBe(writeRlp(string).length)
      expect(listSize(length)).toBe(joinRlp([string]).length)
    }
    expect(stringSize(Uint8Array.of(0x80))).toBe(2)
  })

  // the examples of the Yellow Paper's companion page, and the lengths where the form of the head changes
  test.each<[string, RlpItem]>([
    ['0x83646f67', new TextEncoder().encode('dog')],
    ['0xc88363617483646f67', ['cat', 'dog'].map((word) => new TextEncoder().encode(word))],
    ['0x80', new Uint8Array(0)],
    ['0xc0', []],
    ['0x00', Uint8Array.of(0)],
    ['0x8180', Uint8Array.of(0x80)],
    ['0x820400', Uint8Array.of(4, 0)],
    ['0xc7c0c1c0c3c0c1c0', [[], [[]], [[], [[]]]]],
    [`0xb7${'11'.repeat(55)}`, new Uint8Array(55).fill(0x11)],
    [`0xb838${'11'.repeat(56)}`, new Uint8Array(56).fill(0x11)],
    [`0xb90100${'11'.repeat(256)}`, new Uint8Array(256).fill(0x11)],
    [`0xf838${'11'.repeat(56)}`, Array(56).fill(Uint8Array.of(0x11))],
  ])('of a published example is %s', (text, value) => {
    expect(decodeRlp(bytesFromHex(text))).toEqual(value)
    expect(hexFromBytes(encodeRlp(value))).toBe(text)
  })

  test('may nest lists 64 deep', () => {
    expect(decodeRlp(nestedLists(64))).toEqual(RLP.decode(nestedLists(64)))
  })
})

describe('the RLP decoder refuses', () => {
  test.each([
    ['nothing', '0x', 'there are no bytes'],
    ['bytes after the item', '0x0000', 'the item ends at byte 1 of 2'],
    ['bytes after a list', '0xc105ff', 'the item ends at byte 2 of 3'],
    ['a prefix before a single byte', '0x8100', 'the single byte at 1 needs no prefix'],
    ['such a prefix within a list', '0xc28105', 'the single byte at 2 needs no prefix'],
    ['a string that is cut off', '0x8305', 'the item at byte 0 is longer than the bytes there are'],
    ['a list that is cut off', '0xc2', 'the item at byte 0 is longer than the bytes there are'],
    ['an item longer than its list', '0xc4c1820505', 'the item at byte 2 is longer than the bytes'],
    ['a long form of a short string', '0xb80105', 'the length at byte 1 is 1, which has a shorter'],
    ['a long form of a short list', '0xf80105', 'the length at byte 1 is 1, which has a shorter'],
    ['a length of no bytes', '0xb8', 'the length at byte 1 is 0'],
    ['a length with leading zeros', '0xb90001ff', 'the length at byte 1 has leading zeros'],
    ['a length beyond all memory', '0xbfffffffffffffffff', 'is longer than the bytes there are'],
    ['65 lists within each other', hexFromBytes(nestedLists(65)), 'nested deeper than 64'],
    ['600,000 lists within each other', hexFromBytes(nestedLists(600_000)), 'nested deeper than'],
  ])('%s', (_, text, problem) => {
    expect(() => decodeRlp(bytesFromHex(text))).toThrow(DevchainError)
    expect(() => decodeRlp(bytesFromHex(text))).toThrow(new RegExp(`^expected RLP: .*${problem}`))
  })

  test('too many items before it makes them', () => {
    const [flat, nested] = [encodeRlp([1n, 2n, 3n]), encodeRlp([[1n], [2n]])]
    expect(decodeRlp(flat, 4)).toHaveLength(3)
    for (const bytes of [flat, nested]) {
      expect(() => decodeRlp(bytes, 3)).toThrow('expected RLP: there are more than 3 items')
    }
    expect(encodedItems(flat, 3)).toHaveLength(3)
    expect(() => encodedItems(flat, 2)).toThrow('expected RLP: there are more than 2 items')
  })

  test('any bytes that @ethereumjs/rlp refuses, and decodes all others alike', () => {
    const damage = fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 3 })
    const damaged = fc.tuple(item, damage).map(([value, changes]) => {
      const bytes = encodeRlp(value).slice()
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte
      return bytes
    })
    const bytes = fc.oneof(damaged, fc.uint8Array({ minLength: 1, maxLength: 12 }))
    fc.assert(
      fc.property(bytes, (input) => {
        expect(attempt(decodeRlp, input)).toEqual(attempt(RLP.decode, input))
      }),
      { ...seeded, numRuns: 5_000 },
    )
  })
})
