// The curve of signatures by noble-curves: what the program's is held against.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { CurveSignature } from '../../../../src/core/crypto/secp256k1.ts'
import { concatBytes } from '../../../../src/core/hex.ts'

export function sign(digest: Uint8Array, key: Uint8Array): CurveSignature {
  const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
  return { bytes: signed.slice(1), yParity: ((signed[0] ?? 0) & 1) as 0 | 1 }
}

export function recover(
  digest: Uint8Array,
  { bytes, yParity }: CurveSignature,
): Uint8Array | undefined {
  try {
    const signed = concatBytes(Uint8Array.of(yParity), bytes)
    const signature = secp256k1.Signature.fromBytes(signed, 'recovered')
    return signature.recoverPublicKey(digest).toBytes(false)
  } catch {
    // it throws for r and s beyond the order or 0, and where no point has this x
    return undefined
  }
}

export function publicKey(key: Uint8Array): Uint8Array | undefined {
  return secp256k1.utils.isValidSecretKey(key) ? secp256k1.getPublicKey(key, false) : undefined
}
