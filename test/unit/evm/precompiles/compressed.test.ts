// Compressed points of BLS12-381, read by mcl, against another library.
import { bls12_381 } from '@noble/curves/bls12-381.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hexFromBytes } from '../../../../src/core/hex.ts'
import { bls12381 } from '../../../../src/evm/precompiles/bls12381.ts'
import { G1, G2, NoPoint } from '../../../../src/evm/precompiles/mcl.ts'
import { whenLoaded } from '../../../../src/evm/precompiles/precompile.ts'

const INFINITY = new Uint8Array(48).fill(0xc0, 0, 1)
const PRIME = bls12_381.fields.Fp.ORDER.toString(16).padStart(96, '0')

/** Coordinates of 64 bytes, or undefined for what is no point of the group. */
async function ours(bytes: Uint8Array): Promise<string | undefined> {
  const curve = await whenLoaded(bls12381)
  return curve.with(G1.size, (at) => {
    try {
      curve.readCompressed(G1, at, bytes)
      return hexFromBytes(curve.writePoint(G1, at))
    } catch (error) {
      if (error instanceof NoPoint) return undefined
      throw error
    }
  })
}

function theirs(bytes: Uint8Array): string | undefined {
  try {
    const point = bls12_381.G1.Point.fromBytes(bytes)
    if (point.is0()) return `0x${'00'.repeat(128)}`
    point.assertValidity()
    const { x, y } = point.toAffine()
    return `0x${[x, y].map((each) => each.toString(16).padStart(128, '0')).join('')}`
  } catch {
    return undefined
  }
}

const multiples = fc
  .bigInt(1n, bls12_381.fields.Fr.ORDER - 1n)
  .map((scalar) => bls12_381.G1.Point.BASE.multiplyUnsafe(scalar).toBytes(true))

/** Points, some with a changed byte: mostly the first, which has the flags. */
const points = fc
  .tuple(
    fc.oneof(multiples, fc.constant(INFINITY), fc.uint8Array({ minLength: 48, maxLength: 48 })),
    fc.oneof(fc.constant(0), fc.nat(47)),
    fc.oneof(fc.constantFrom(0, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0), fc.nat(255)),
  )
  .map(([bytes, at, mask]) => bytes.map((byte, i) => (i === at ? byte ^ mask : byte)))

test('a compressed point is decoded or refused as by @noble/curves', async () => {
  await fc.assert(
    fc.asyncProperty(points, async (bytes) => {
      expect(await ours(bytes)).toBe(theirs(bytes))
    }),
    { numRuns: 300 },
  )
})

test.each([
  [
    'the prime as a coordinate',
    `${(0x80 | Number.parseInt(PRIME.slice(0, 2), 16)).toString(16)}${PRIME.slice(2)}`,
  ],
  ['infinity with a bit more', `c0${'00'.repeat(46)}01`],
  ['infinity with a sign', `e0${'00'.repeat(47)}`],
  ['nothing but zeros', '00'.repeat(48)],
  ['the curve’s point with x = 4, which is not of the group', `80${'00'.repeat(46)}04`],
])('a compressed point is refused: %s', async (_, hex) => {
  const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
  expect(await ours(bytes)).toBe(undefined)
  expect(theirs(bytes)).toBe(undefined)
})

test('a compressed point of the other group is decoded, too', async () => {
  const curve = await whenLoaded(bls12381)
  const read = curve.with(G2.size, (at) => {
    curve.readCompressed(G2, at, bls12_381.G2.Point.BASE.toBytes(true))
    return hexFromBytes(curve.writePoint(G2, at))
  })
  const { x, y } = bls12_381.G2.Point.BASE.toAffine()
  const numbers = [x.c0, x.c1, y.c0, y.c1]
  expect(read).toBe(`0x${numbers.map((each) => each.toString(16).padStart(128, '0')).join('')}`)
})
