// The curve of all signatures, by two libraries that give the same bits: libsecp256k1 as WebAssembly, and
// noble-curves, which takes several times as long and stands in where that is missing.
import { createRequire } from 'node:module'
import type * as Noble from '@noble/curves/secp256k1.js'
import type * as Tiny from 'tiny-secp256k1'
import { bigintFromBytes, concatBytes, paddedBytes } from '../hex.ts'

/** What is asked of a library. Digests have 32 bytes, and so have keys. */
export interface Curve {
  /**
   * Signs by RFC 6979 with a low `s`.
   * @throws when the key is none
   */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => CurveSignature
  /** The key that made a signature, as 65 bytes; undefined when there is none. */
  readonly recover: (digest: Uint8Array, signature: CurveSignature) => Uint8Array | undefined
  /** The public key of a private one, as 65 bytes; undefined when that is none. */
  readonly publicKey: (key: Uint8Array) => Uint8Array | undefined
}

/** r ‖ s, and the parity of the y coordinate of the point whose x is r. */
export interface CurveSignature {
  readonly bytes: Uint8Array
  readonly yParity: 0 | 1
}

/** The order of the curve's group: what private keys, `r` and `s` are below. */
export const ORDER: bigint = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// neither is loaded with this module: the first transaction waits for it, not the start
const load = createRequire(import.meta.url)

/** The faster library, or the other where it cannot be loaded. */
export function loadCurve(loadFaster: () => Curve = loadTiny): Curve {
  try {
    return loadFaster()
  } catch {
    // whatever is wrong with it, the other does the same
    return loadNoble()
  }
}

/** libsecp256k1 as WebAssembly. */
export function loadTiny(): Curve {
  const tiny = load('tiny-secp256k1') as typeof Tiny
  return {
    sign: (digest, key) => {
      const { signature, recoveryId } = tiny.signRecoverable(belowOrder(digest), key)
      return { bytes: signature, yParity: parityOf(recoveryId) }
    },
    recover: (digest, { bytes, yParity }) => {
      try {
        return tiny.recover(digest, bytes, yParity, false) ?? undefined
      } catch {
        // it throws for r and s beyond the order or 0, and where no point has this x
        return undefined
      }
    },
    publicKey: (key) =>
      tiny.isPrivate(key) ? (tiny.pointFromScalar(key, false) ?? undefined) : undefined,
  }
}

/** noble-curves, in JavaScript: the one that the other is held against. */
export function loadNoble(): Curve {
  const { secp256k1 } = load('@noble/curves/secp256k1.js') as typeof Noble
  return {
    sign: (digest, key) => {
      const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
      return { bytes: signed.slice(1), yParity: parityOf(signed[0] ?? 0) }
    },
    recover: (digest, { bytes, yParity }) => {
      try {
        const signed = concatBytes(Uint8Array.of(yParity), bytes)
        const signature = secp256k1.Signature.fromBytes(signed, 'recovered')
        return signature.recoverPublicKey(digest).toBytes(false)
      } catch {
        // as above
        return undefined
      }
    },
    publicKey: (key) =>
      secp256k1.utils.isValidSecretKey(key) ? secp256k1.getPublicKey(key, false) : undefined,
  }
}

/** Whether r was beyond the order (the other bit) matters to nobody: Ethereum has no such signatures. */
function parityOf(recoveryId: number): 0 | 1 {
  return (recoveryId & 1) as 0 | 1
}

/** The digest as RFC 6979 takes it, modulo the order; libsecp256k1 leaves that to its caller. */
function belowOrder(digest: Uint8Array): Uint8Array {
  // so begins one in 2^32, and each of those that are not below the order
  if (digest[0] !== 255 || digest[1] !== 255 || digest[2] !== 255 || digest[3] !== 255)
    return digest
  return paddedBytes(bigintFromBytes(digest) % ORDER, 32)
}
