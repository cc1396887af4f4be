// Signatures, held against two libraries: noble-curves and libsecp256k1 compiled to WebAssembly. Where signatures are usual,
// and at the edges of all ranges.
import { secp256k1 as noble } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import * as tiny from 'tiny-secp256k1'
import { describe, expect, test } from 'vitest'
import {
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import { Curve, ORDER, type Signature } from '../../../src/core/secp256k1.ts'

/** The prime of the field that coordinates are in. */
const FIELD = 2n ** 256n - 2n ** 32n - 977n

const MAX = 2n ** 256n - 1n

const curve = new Curve()

const seeded = (numRuns: number): { seed: number; numRuns: number } => ({ seed: 20261121, numRuns })

/** Near 0, half the order, the order, the field's prime and 2^256, of few bits, and anywhere. */
const number = fc
  .oneof(
    fc.bigInt({ min: 0n, max: MAX }),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 255n }), fc.nat(255))
      .map(([bits, shift]) => bits << BigInt(shift)),
    fc
      .tuple(
        fc.constantFrom(0n, ORDER / 2n, ORDER, FIELD - ORDER, FIELD, MAX),
        fc.bigInt({ min: -3n, max: 3n }),
      )
      .map(([near, step]) => near + step),
  )
  .filter((value) => value >= 0n && value <= MAX)

const word = number.map((value) => paddedBytes(value, 32))
const key = number
  .filter((value) => value > 0n && value < ORDER)
  .map((value) => paddedBytes(value, 32))
const parity = fc.constantFrom(0 as const, 1 as const)

function bytesOf({ r, s }: Signature): Uint8Array {
  return concatBytes(paddedBytes(r, 32), paddedBytes(s, 32))
}

function shown({ r, s, yParity }: Signature): string {
  return `${r.toString(16)} ${s.toString(16)} ${yParity}`
}

function signedByNoble(digest: Uint8Array, secret: Uint8Array): Signature {
  const bytes = noble.sign(digest, secret, { prehash: false, format: 'recovered' })
  const { r, s, recovery } = noble.Signature.fromBytes(bytes, 'recovered')
  return { r, s, yParity: ((recovery ?? 0) & 1) as 0 | 1 }
}

/** x and y of the key, or `nobody`. */
function recovered(digest: Uint8Array, signature: Signature): string {
  const point = curve.recover(digest, signature)
  return point === undefined ? 'nobody' : hexFromBytes(point)
}

function recoveredByNoble(digest: Uint8Array, { r, s, yParity }: Signature): string {
  try {
    const signature = new noble.Signature(r, s, yParity)
    return hexFromBytes(signature.recoverPublicKey(digest).toBytes(false).subarray(1))
  } catch {
    return 'nobody'
  }
}

function recoveredByTiny(digest: Uint8Array, signature: Signature): string {
  try {
    const point = tiny.recover(digest, bytesOf(signature), signature.yParity, false)
    return point === null ? 'nobody' : hexFromBytes(point.subarray(1))
  } catch {
    return 'nobody'
  }
}

describe('signing', () => {
  test('gives the bits that noble-curves gives, whatever the digest and the key', () => {
    fc.assert(
      fc.property(word, key, (digest, secret) => {
        expect(shown(curve.sign(digest, secret))).toBe(shown(signedByNoble(digest, secret)))
      }),
      seeded(200),
    )
  })

  test('gives the bits that libsecp256k1 gives, for digests below the order', () => {
    fc.assert(
      fc.property(key, key, (digest, secret) => {
        const { signature, recoveryId } = tiny.signRecoverable(digest, secret)
        const ours = curve.sign(digest, secret)
        expect(hexFromBytes(bytesOf(ours))).toBe(hexFromBytes(signature))
        expect(ours.yParity).toBe(recoveryId & 1)
      }),
      seeded(2_000),
    )
  })
})

describe('recovering', () => {
  test('gives the key that signed, also for the signature with the other s', () => {
    fc.assert(
      fc.property(word, key, (digest, secret) => {
        const expected = hexFromBytes(curve.publicKey(secret)!)
        const signature = curve.sign(digest, secret)
        const { r, s, yParity } = signature
        expect(recovered(digest, signature)).toBe(expected)
        const other = { r, s: ORDER - s, yParity: (1 - yParity) as 0 | 1 }
        expect(recovered(digest, other)).toBe(expected)
      }),
      seeded(300),
    )
  })

  test('gives what both libraries give for numbers that nobody signed with: a key, or none', () => {
    fc.assert(
      fc.property(word, number, number, parity, (digest, r, s, yParity) => {
        const signature = { r, s, yParity }
        const ours = recovered(digest, signature)
        expect(ours).toBe(recoveredByTiny(digest, signature))
        expect(ours).toBe(recoveredByNoble(digest, signature))
      }),
      seeded(400),
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
    ['all bits are set', MAX, MAX],
  ])('gives nobody where %s', (_, r, s) => {
    for (const yParity of [0, 1] as const) {
      const signature = { r, s, yParity }
      const digest = new Uint8Array(32).fill(9)
      expect(recovered(digest, signature)).toBe('nobody')
      expect(recoveredByNoble(digest, signature)).toBe('nobody')
    }
  })

  // with r the x of the generator and parity that of its y, the key is (s - digest) / r times the generator
  const r = bigintFromBytes(noble.Point.BASE.toBytes(false).subarray(1, 33))

  test('gives nobody where the key would be the neutral point', () => {
    const signature: Signature = { r, s: 77n, yParity: 0 }
    expect(recovered(paddedBytes(77n, 32), signature)).toBe('nobody')
    expect(recoveredByNoble(paddedBytes(77n, 32), signature)).toBe('nobody')
  })

  test.each([
    [0n, 5n],
    [ORDER, 5n],
    [77n, 78n],
    [78n, 77n],
    [ORDER - 77n, 77n],
    [64n, 128n],
    [1n, ORDER - 1n],
  ])('adds equal and opposite multiples of the generator: digest %i, s %i', (digest, s) => {
    for (const yParity of [0, 1] as const) {
      const signature = { r, s, yParity }
      const message = paddedBytes(digest, 32)
      expect(recovered(message, signature)).toBe(recoveredByNoble(message, signature))
    }
  })
})

describe('asking whether a key signed', () => {
  const isSigner = (secret: Uint8Array, digest: Uint8Array, signature: Signature): boolean =>
    recovered(digest, signature) === hexFromBytes(curve.publicKey(secret)!)

  test('answers what recovering the key answers, of its own signatures and of others', () => {
    fc.assert(
      fc.property(word, key, key, parity, (digest, secret, other, yParity) => {
        const own = curve.sign(digest, secret)
        const high: Signature = { r: own.r, s: ORDER - own.s, yParity: own.yParity === 0 ? 1 : 0 }
        expect(curve.isSignatureOf(secret, digest, own)).toBe(true)
        expect(curve.isSignatureOf(secret, digest, high)).toBe(true)
        for (const each of [
          { ...own, yParity },
          { ...own, s: own.s ^ 1n },
          { ...own, r: own.r ^ 1n },
        ]) {
          expect(curve.isSignatureOf(secret, digest, each)).toBe(isSigner(secret, digest, each))
          expect(curve.isSignatureOf(other, digest, each)).toBe(isSigner(other, digest, each))
        }
      }),
      seeded(150),
    )
  })

  test('is false of what is no signature', () => {
    const secret = paddedBytes(7n, 32)
    const digest = new Uint8Array(32)
    for (const [r, s] of [
      [0n, 1n],
      [1n, 0n],
      [ORDER, 1n],
      [1n, ORDER],
      [MAX, MAX],
    ] as const) {
      expect(curve.isSignatureOf(secret, digest, { r, s, yParity: 0 })).toBe(false)
    }
    // digest + r · key is 0 modulo the order, so that the nonce would be
    const r = 3n
    const message = paddedBytes(ORDER - r * 7n, 32)
    expect(curve.isSignatureOf(secret, message, { r, s: 9n, yParity: 0 })).toBe(false)
  })
})

describe('public keys', () => {
  test('are those of libsecp256k1, for every private key there is and for none else', () => {
    const secrets = fc.oneof(word, key, fc.uint8Array({ maxLength: 40 }))
    fc.assert(
      fc.property(secrets, (secret) => {
        const ours = curve.publicKey(secret)
        const theirs = tiny.isPrivate(secret) ? tiny.pointFromScalar(secret, false) : null
        expect(ours && hexFromBytes(ours)).toBe(
          theirs === null ? undefined : hexFromBytes(theirs.subarray(1)),
        )
      }),
      seeded(2_000),
    )
  })

  test('are right for each entry of the table', () => {
    for (let bit = 0n; bit < 256n; bit += 6n) {
      for (let digit = 1n; digit < 64n && digit << bit < ORDER; digit++) {
        const secret = paddedBytes(digit << bit, 32)
        const theirs = tiny.pointFromScalar(secret, false)!
        expect(hexFromBytes(curve.publicKey(secret)!)).toBe(hexFromBytes(theirs.subarray(1)))
      }
    }
  })
})

test('a digest may be anything: zero, the order, all bits', () => {
  const secret = bytesFromHex(`0x${'07'.repeat(32)}`)
  for (const digest of [0n, ORDER - 1n, ORDER, ORDER + 1n, MAX]) {
    const message = paddedBytes(digest, 32)
    expect(shown(curve.sign(message, secret))).toBe(shown(signedByNoble(message, secret)))
  }
})
