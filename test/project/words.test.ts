// Values of one word are read as the library reads them, whatever the bytes are.
import fc from 'fast-check'
import { type AbiParameters, decode } from 'ox/AbiParameters'
import { describe, expect, test } from 'vitest'
import { readWords, wordReaders } from '../../src/project/abi/words.ts'

/** What the library makes of the bytes; undefined where they do not fit. */
function byLibrary(types: readonly string[], data: Uint8Array): unknown {
  try {
    return decode(types.map((type) => ({ type })) as AbiParameters, data, {
      checksumAddress: false,
    })
  } catch {
    return undefined
  }
}

function byWords(types: readonly string[], data: Uint8Array): unknown {
  const readers = wordReaders(types)
  return readers && readWords(readers, data)
}

const sizes = Array.from({ length: 32 }, (_, i) => i + 1)
const ALL = [
  ...['address', 'bool', 'uint', 'int'],
  ...sizes.flatMap((size) => [`uint${8 * size}`, `int${8 * size}`, `bytes${size}`]),
]

/** A word as contracts write them: random, small, negative, 0, 1, an address, or with its left half used. */
const filled = (at: number, length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => {
    const word = new Uint8Array(32)
    word.set(bytes, at)
    return word
  })
const word = fc.oneof(
  filled(0, 32),
  filled(31, 1),
  filled(28, 4),
  filled(24, 8),
  filled(12, 20),
  filled(0, 16),
  filled(26, 6).map((bytes) => bytes.fill(0xff, 0, 26)),
  fc.constantFrom(0, 1, 2).map((last) => new Uint8Array(32).fill(last, 31)),
)

describe('values of one word', () => {
  test.each(ALL)('of %s are those that the library reads', (type) => {
    fc.assert(
      fc.property(word, (data) => {
        const values = byWords([type], data)
        // what does not fit is left to the library, and nothing else is
        expect(values).toEqual(byLibrary([type], data))
      }),
      { seed: 1, numRuns: 60 },
    )
  })

  test('are the same in lists, with bytes before, between and after what is read', () => {
    const typesAndWords = fc.array(fc.tuple(fc.constantFrom(...ALL), word), { maxLength: 6 })
    const extra = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(typesAndWords, extra, (list, more) => {
        const types = list.map(([type]) => type)
        const whole = Buffer.concat([more, ...list.map(([, bytes]) => bytes), more])
        const data = new Uint8Array(whole.buffer, whole.byteOffset, whole.length).subarray(
          more.length,
        )
        if (types.length > 0) expect(byWords(types, data)).toEqual(byLibrary(types, data))
      }),
      { seed: 2, numRuns: 500 },
    )
  })

  test('are left to the library where bytes are missing', () => {
    // it takes a last word of which all is there that is read
    const data = new Uint8Array(36).fill(7)
    expect(byWords(['uint256', 'bytes4'], data)).toBeUndefined()
    expect(byLibrary(['uint256', 'bytes4'], data)).toHaveLength(2)
  })

  test.each(['string', 'bytes', 'uint256[]', 'uint8[2]', 'tuple', 'function', 'bytes33', 'fixed'])(
    'are none of %s',
    (type) => expect(wordReaders(['address', type])).toBeUndefined(),
  )
})
