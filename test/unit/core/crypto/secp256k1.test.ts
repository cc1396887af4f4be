// The two libraries for the curve: one is held against the other, where signatures are usual and where they are not.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as tiny from '../../../../src/core/crypto/secp256k1.ts'
import { type CurveSignature, ORDER } from '../../../../src/core/crypto/secp256k1.ts'
import { bytesFromHex, concatBytes, hexFromBytes, paddedBytes } from '../../../../src/core/hex.ts'
import * as noble from './noblecurve.ts'

/** The prime of the field that coordinates are in. */
const FIELD = 2n ** 256n - 2n ** 32n - 977n

const seeded = (numRuns: number): { seed: number; numRuns: number } => ({ seed: 20261121, numRuns })

/** Near 0, near half the order, near the order and the field's prime, near 2^256, and anywhere. */
const scalar = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc
      .tuple(
        fc.constantFrom(0n, ORDER / 2n, ORDER, FIELD - ORDER, FIELD, 2n ** 256n - 1n),
        fc.bigInt({ min: -3n, max: 3n }),
      )
      .map(([near, step]) => near + step),
  )
  .filter((value) => value >= 0n && value < 2n ** 256n)

const word = scalar.map((value) => paddedBytes(value, 32))
const key = scalar
  .filter((value) => value > 0n && value < ORDER)
  .map((value) => paddedBytes(value, 32))

/** Values that a test can compare. */
function shown(signature: CurveSignature): string {
  return `${hexFromBytes(signature.bytes)} ${signature.yParity}`
}

function recovered(
  curve: Pick<typeof noble, 'recover'>,
  digest: Uint8Array,
  signature: CurveSignature,
): string {
  const publicKey = curve.recover(digest, signature)
  return publicKey === undefined ? 'nobody' : hexFromBytes(publicKey)
}

describe('both secp256k1 libraries', () => {
  test('make the same signature for any digest and key', () => {
    fc.assert(
      fc.property(word, key, (digest, secret) => {
        expect(shown(tiny.sign(digest, secret))).toBe(shown(noble.sign(digest, secret)))
      }),
      seeded(150),
    )
  })

  test('recover the key that signed', () => {
    fc.assert(
      fc.property(word, key, (digest, secret) => {
        const signature = tiny.sign(digest, secret)
        const expected = hexFromBytes(noble.publicKey(secret)!)
        expect(recovered(tiny, digest, signature)).toBe(expected)
        expect(recovered(noble, digest, signature)).toBe(expected)
      }),
      seeded(40),
    )
  })

  test('recover the same key, or none, from random numbers', () => {
    fc.assert(
      fc.property(word, word, word, fc.constantFrom(0 as const, 1 as const), (digest, r, s, y) => {
        const signature = { bytes: concatBytes(r, s), yParity: y }
        expect(recovered(tiny, digest, signature)).toBe(recovered(noble, digest, signature))
      }),
      seeded(150),
    )
  })

  test('recover the same key from a signature with a high s', () => {
    fc.assert(
      fc.property(word, key, (digest, secret) => {
        const { bytes, yParity } = noble.sign(digest, secret)
        const low = BigInt(hexFromBytes(bytes.subarray(32)))
        const high = concatBytes(bytes.subarray(0, 32), paddedBytes(ORDER - low, 32))
        const signature = { bytes: high, yParity: (1 - yParity) as 0 | 1 }
        const expected = hexFromBytes(noble.publicKey(secret)!)
        expect(recovered(tiny, digest, signature)).toBe(expected)
      }),
      seeded(20),
    )
  })

  test('accept the same private keys and derive the same public keys', () => {
    const print = (bytes: Uint8Array | undefined): string => (bytes ? hexFromBytes(bytes) : 'none')
    fc.assert(
      fc.property(fc.oneof(word, fc.uint8Array({ maxLength: 40 })), (secret) => {
        expect(print(tiny.publicKey(secret))).toBe(print(noble.publicKey(secret)))
      }),
      seeded(100),
    )
  })

  test.each([
    ['r is 0', 0n, 1n],
    ['s is 0', 1n, 0n],
    ['r is the order', ORDER, 1n],
    ['s is the order', 1n, ORDER],
    ['r is the prime of the field', FIELD, 1n],
    ['r is beyond the prime of the field', FIELD + 1n, 1n],
    ['no point has r as its x', 5n, 1n],
    ['all bits are set', 2n ** 256n - 1n, 2n ** 256n - 1n],
  ])('recover nobody where %s', (_, r, s) => {
    const bytes = concatBytes(paddedBytes(r, 32), paddedBytes(s, 32))
    for (const yParity of [0, 1] as const) {
      expect(recovered(tiny, new Uint8Array(32).fill(9), { bytes, yParity })).toBe('nobody')
      expect(recovered(noble, new Uint8Array(32).fill(9), { bytes, yParity })).toBe('nobody')
    }
  })

  test('recover nobody where the key would be the point at infinity', () => {
    // with r the x of the generator and digest = s, the key is (s·G - digest·G) / r
    const r = bytesFromHex('0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')
    const digest = paddedBytes(77n, 32)
    const signature = { bytes: concatBytes(r, digest), yParity: 0 as const }
    expect(recovered(tiny, digest, signature)).toBe('nobody')
    expect(recovered(noble, digest, signature)).toBe('nobody')
  })

  test.each([new Uint8Array(32), paddedBytes(ORDER, 32), new Uint8Array(31).fill(1)])(
    'refuse to sign with an invalid key',
    (secret) => {
      expect(() => tiny.sign(new Uint8Array(32), secret)).toThrow(/private/i)
      expect(() => noble.sign(new Uint8Array(32), secret)).toThrow()
    },
  )
})
