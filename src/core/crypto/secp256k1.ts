// The signature curve, by libsecp256k1 in WebAssembly. Tests compare it with noble-curves.
import { createRequire } from 'node:module'
import type * as Tiny from 'tiny-secp256k1'
import { attempt } from '../errors.ts'
import { bigintFromBytes, paddedBytes } from '../hex.ts'
import { lazy } from '../lrucache.ts'

/** r ‖ s, and the parity of y at the point with x = r. */
export interface CurveSignature {
  readonly bytes: Uint8Array
  readonly yParity: 0 | 1
}

/** The order of the group. Private keys, `r` and `s` are below it. */
export const ORDER: bigint = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// loaded for the first transaction, not at startup
const tiny = lazy(() => createRequire(import.meta.url)('tiny-secp256k1') as typeof Tiny)

/** By RFC 6979, with a low `s`. @throws if the key is invalid */
export function sign(digest: Uint8Array, key: Uint8Array): CurveSignature {
  const { signature, recoveryId } = tiny().signRecoverable(belowOrder(digest), key)
  // the other bit says that r exceeded the order, which Ethereum signatures do not encode
  return { bytes: signature, yParity: (recoveryId & 1) as 0 | 1 }
}

export function recover(
  digest: Uint8Array,
  { bytes, yParity }: CurveSignature,
): Uint8Array | undefined {
  // it throws if r or s is 0 or beyond the order, and if no point has this x
  return attempt(() => tiny().recover(digest, bytes, yParity, false)) ?? undefined
}

export function publicKey(key: Uint8Array): Uint8Array | undefined {
  return tiny().isPrivate(key) ? (tiny().pointFromScalar(key, false) ?? undefined) : undefined
}

/** RFC 6979 takes the digest modulo the order; libsecp256k1 leaves that to its caller. */
function belowOrder(digest: Uint8Array): Uint8Array {
  // every digest beyond the order starts with these bytes, as one in 2^32 does
  if (digest[0] !== 255 || digest[1] !== 255 || digest[2] !== 255 || digest[3] !== 255)
    return digest
  return paddedBytes(bigintFromBytes(digest) % ORDER, 32)
}
