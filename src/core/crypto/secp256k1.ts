// The curve of all signatures, by libsecp256k1 as WebAssembly, which is held against noble-curves.
import { createRequire } from 'node:module'
import type * as Tiny from 'tiny-secp256k1'
import { bigintFromBytes, paddedBytes } from '../hex.ts'
import { lazy } from '../lazy.ts'

/** r ‖ s, and the parity of the y coordinate of the point whose x is r. */
export interface CurveSignature {
  readonly bytes: Uint8Array
  readonly yParity: 0 | 1
}

/** The order of the curve's group: what private keys, `r` and `s` are below. */
export const ORDER: bigint = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// the first transaction waits for it, not the start
const tiny = lazy(() => createRequire(import.meta.url)('tiny-secp256k1') as typeof Tiny)

/**
 * Signs a digest of 32 bytes by RFC 6979 with a low `s`.
 * @throws when the key is none
 */
export function sign(digest: Uint8Array, key: Uint8Array): CurveSignature {
  const { signature, recoveryId } = tiny().signRecoverable(belowOrder(digest), key)
  // whether r was beyond the order (the other bit) matters to nobody: Ethereum has no such signatures
  return { bytes: signature, yParity: (recoveryId & 1) as 0 | 1 }
}

/** The key that made a signature, as 65 bytes; undefined when there is none. */
export function recover(
  digest: Uint8Array,
  { bytes, yParity }: CurveSignature,
): Uint8Array | undefined {
  try {
    return tiny().recover(digest, bytes, yParity, false) ?? undefined
  } catch {
    // it throws for r and s beyond the order or 0, and where no point has this x
    return undefined
  }
}

/** The public key of a private one, as 65 bytes; undefined when that is none. */
export function publicKey(key: Uint8Array): Uint8Array | undefined {
  return tiny().isPrivate(key) ? (tiny().pointFromScalar(key, false) ?? undefined) : undefined
}

/** The digest as RFC 6979 takes it, modulo the order; libsecp256k1 leaves that to its caller. */
function belowOrder(digest: Uint8Array): Uint8Array {
  // so begins one in 2^32, and each of those that are not below the order
  if (digest[0] !== 255 || digest[1] !== 255 || digest[2] !== 255 || digest[3] !== 255)
    return digest
  return paddedBytes(bigintFromBytes(digest) % ORDER, 32)
}
