// KZG point evaluation over BLS12-381 (EIP-4844), and what blob proofs share with it.
import { mod } from '@noble/curves/abstract/modular.js'
import { bigintFromBytes, bytesFromHex, paddedBytes } from '../../core/hex.ts'
import { bls12381 } from './bls12381.ts'
import { type Curve, G1, G2, SCALAR_SIZE } from './mcl.ts'
import { isPairingOne, ofPoints } from './pairing.ts'
import { loadedLater, whenLoaded } from './precompile.ts'
import { POWERS_ON_G1, POWERS_ON_G2 } from './trustedsetup.ts'

/** Arguments and values are below it. */
export const SCALAR_ORDER: bigint =
  0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n

const POINT = 48

interface Setup {
  readonly onG1: readonly Uint8Array[]
  readonly onG2: Readonly<Record<0 | 1 | 64, Uint8Array>>
}

/** @throws {Unready} until the curve is loaded */
export const trustedSetup: () => Setup = loadedLater(async () =>
  readSetup(await whenLoaded(bls12381)),
)

type Evaluation = Readonly<Record<'z' | 'y' | 'commitment' | 'proof', Uint8Array>>

/**
 * True if the polynomial of `commitment` is `y` at `z`: e(C - y·G1 + z·π, G2) = e(π, s·G2).
 * @returns undefined if a scalar is too large, or a point is not in the group
 * @throws {Unready} until the curve is loaded
 */
export function verifyEvaluation({ z, y, commitment, proof }: Evaluation): boolean | undefined {
  const setup = trustedSetup()
  const curve = bls12381()
  const [place, value] = [bigintFromBytes(z), bigintFromBytes(y)]
  const areSized = commitment.length === POINT && proof.length === POINT
  if (place >= SCALAR_ORDER || value >= SCALAR_ORDER || !areSized) return undefined
  return curve.with(3 * G1.size, (points) => {
    const proofAt = points + 2 * G1.size
    curve.readPoint(G1, points, setup.onG1[0]!, false)
    const areRead = readG1(curve, points + G1.size, commitment) && readG1(curve, proofAt, proof)
    if (!areRead) return undefined
    const first = sumAt(curve, points, [-value, 1n, place])
    return areEqual(curve, first, sumAt(curve, proofAt, [-1n]), setup.onG2[1])
  })
}

/** Reads a compressed point of G1; false if there is none, or it is not in the group. */
export function readG1(curve: Curve, at: number, bytes: Uint8Array): boolean {
  const read = (): true => {
    curve.readCompressed(G1, at, bytes)
    return true
  }
  return ofPoints(curve, read) === true
}

/** True if e(first, G2)·e(second, other) is one. */
export function areEqual(
  curve: Curve,
  first: Uint8Array,
  second: Uint8Array,
  other: Uint8Array,
): boolean {
  const generator = trustedSetup().onG2[0]
  return isPairingOne(curve, 2, (i, at) => {
    curve.readPoint(G1, at.g1, i === 0 ? first : second, false)
    curve.readPoint(G2, at.g2, i === 0 ? generator : other, false)
  })
}

/** The sum of scalars times the points from address `at`, as bytes. Scalars need not be reduced. */
export function sumAt(curve: Curve, at: number, scalars: readonly bigint[]): Uint8Array {
  return curve.with(G1.size + scalars.length * SCALAR_SIZE, (sum) => {
    const factors = sum + G1.size
    scalars.forEach((scalar, i) => {
      const bytes = paddedBytes(mod(scalar, SCALAR_ORDER), SCALAR_SIZE)
      curve.readScalar(factors + i * SCALAR_SIZE, bytes)
    })
    curve.multiplySum(G1, sum, at, factors, scalars.length)
    return curve.writePoint(G1, sum)
  })
}

function readSetup(curve: Curve): Setup {
  const read = (group: typeof G1, hex: string): Uint8Array =>
    curve.with(group.size, (at) => {
      curve.readCompressed(group, at, bytesFromHex(`0x${hex}`))
      return curve.writePoint(group, at)
    })
  return {
    onG1: POWERS_ON_G1.map((hex) => read(G1, hex)),
    onG2: {
      0: read(G2, POWERS_ON_G2[0]),
      1: read(G2, POWERS_ON_G2[1]),
      64: read(G2, POWERS_ON_G2[64]),
    },
  }
}
