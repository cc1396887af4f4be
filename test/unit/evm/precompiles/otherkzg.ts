// The KZG check of the point evaluation precompile by another library than the program's: what its answers are held against.
import type { KZG } from '@ethereumjs/util'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesFromHex } from '../../../../src/core/hex.ts'
import { POWERS_ON_G2 } from '../../../../src/evm/precompiles/trustedsetup.ts'

/** Order of the scalar field; z and y are below it. */
const SCALARS = bls12_381.fields.Fr.ORDER

type G1Point = InstanceType<typeof bls12_381.G1.Point>

/**
 * True when the polynomial behind `commitment` has the value `y` at `z`: e(C - y·G1, G2) = e(proof, (s - z)·G2).
 * All four as hex: 48-byte compressed points, 32-byte scalars.
 * @throws {Error} with `C_KZG_BADARGS`, as the library's EVM wants it, when one of them is none.
 */
export function verifyKzgProof(commitment: string, z: string, y: string, proof: string): boolean {
  const { G1, G2 } = bls12_381
  const atY = G1.Point.BASE.multiplyUnsafe(scalar(y))
  const left = point(commitment).subtract(atY)
  const right = G2.Point.fromHex(POWERS_ON_G2[1]).subtract(G2.Point.BASE.multiplyUnsafe(scalar(z)))
  const pairs = [
    { g1: left.negate(), g2: G2.Point.BASE },
    { g1: point(proof), g2: right },
    // a pairing with the point at infinity is 1, and the pairing function does not take it
  ].filter(({ g1, g2 }) => !g1.is0() && !g2.is0())
  if (pairs.length === 0) return true
  return bls12_381.fields.Fp12.eql(bls12_381.pairingBatch(pairs), bls12_381.fields.Fp12.ONE)
}

/** Only this check, as the library's EVM calls nothing else. */
export const kzg = { verifyProof: verifyKzgProof } as KZG

function scalar(text: string): bigint {
  const value = BigInt(text)
  if (value >= SCALARS) throw new Error('C_KZG_BADARGS: a scalar is not below the order')
  return value
}

function point(text: string): G1Point {
  try {
    const result = bls12_381.G1.Point.fromBytes(bytesFromHex(text))
    // fromBytes checks the curve, this the subgroup
    if (!result.is0()) result.assertValidity()
    return result
  } catch (error) {
    throw new Error('C_KZG_BADARGS: not a point of G1', { cause: error })
  }
}
