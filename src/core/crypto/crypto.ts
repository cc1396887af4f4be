// Hashes, keys and signatures. Libraries and WebAssembly do the work; no other module imports them.
import { DevchainError, invalidParams } from '../errors.ts'
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  type Hash,
  hashFromBytes,
  paddedBytes,
} from '../hex.ts'
import { keccak256 } from './keccak.ts'
import * as curve from './secp256k1.ts'

export { keccak256 } from './keccak.ts'

/** An ECDSA signature over secp256k1. devchain signs with `s` in the lower half of the order (EIP-2). */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
}

export function keccakHash(bytes: Uint8Array): Hash {
  return hashFromBytes(keccak256(bytes))
}

export const EMPTY_CODE_HASH: Hash =
  '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' as Hash

/** Deterministic by RFC 6979. */
export function signDigest(digest: Uint8Array, privateKey: Uint8Array): Signature {
  const { bytes, yParity } = curve.sign(digest, privateKey)
  const r = bigintFromBytes(bytes.subarray(0, 32))
  return { r, s: bigintFromBytes(bytes.subarray(32)), yParity }
}

/** @throws {DevchainError} `INVALID_SIGNATURE` if no key matches r, s and parity. */
export function recoverAddress(digest: Uint8Array, { r, s, yParity }: Signature): Address {
  const bytes = concatBytes(paddedBytes(r, 32), paddedBytes(s, 32))
  const publicKey = curve.recover(digest, { bytes, yParity })
  if (publicKey !== undefined) return addressFromBytes(keccak256(publicKey.subarray(1)))
  throw new DevchainError(
    'INVALID_SIGNATURE',
    `invalid signature: no key gives r=${r}, s=${s}, yParity=${yParity}`,
  )
}

/** @throws {DevchainError} `INVALID_PARAMS` if the key is zero or not below the curve's order. */
export function addressOfKey(privateKey: Uint8Array): Address {
  const publicKey = curve.publicKey(privateKey)
  if (publicKey !== undefined) return addressFromBytes(keccak256(publicKey.subarray(1)))
  throw invalidParams(
    'expected a private key: 32 bytes, above zero and below the order of secp256k1',
  )
}

/** The 65 bytes that wallets exchange: r ‖ s ‖ v, with v 27 or 28. */
export function signatureBytes({ r, s, yParity }: Signature): Uint8Array {
  return concatBytes(paddedBytes(r, 32), paddedBytes(s, 32), Uint8Array.of(27 + yParity))
}

/**
 * Reads 65 bytes r ‖ s ‖ v, with v 0, 1, 27 or 28.
 * @throws {DevchainError} `INVALID_PARAMS` for another length or v.
 */
export function signatureFromBytes(bytes: Uint8Array): Signature {
  const v = bytes[64]
  if (bytes.length !== 65 || !(v === 0 || v === 1 || v === 27 || v === 28)) {
    throw invalidParams(
      `expected a 65-byte signature ending in v (0, 1, 27 or 28), got ${bytes.length} bytes`,
    )
  }
  return {
    r: bigintFromBytes(bytes.subarray(0, 32)),
    s: bigintFromBytes(bytes.subarray(32, 64)),
    yParity: (v % 27) as 0 | 1,
  }
}

/**
 * Reads a compact signature: r, then s with the parity in its highest bit (EIP-2098).
 * @throws {DevchainError} `INVALID_PARAMS` for another length.
 */
export function signatureFromCompact(bytes: Uint8Array): Signature {
  if (bytes.length !== 64) {
    throw invalidParams(`expected a compact signature of 64 bytes, got ${bytes.length} bytes`)
  }
  const parityAndS = bigintFromBytes(bytes.subarray(32))
  return {
    r: bigintFromBytes(bytes.subarray(0, 32)),
    s: BigInt.asUintN(255, parityAndS),
    yParity: parityAndS >> 255n === 1n ? 1 : 0,
  }
}

const LOWER_A = 0x61
const LOWER_TO_UPPER = 0x20

const ADDRESS_TEXT: Buffer = Buffer.from(`0x${'0'.repeat(40)}`)
const ADDRESS_DIGITS: Buffer = ADDRESS_TEXT.subarray(2)

export function checksumAddress(address: Address): string {
  const digits = ADDRESS_DIGITS
  for (let i = 0; i < digits.length; i++) digits[i] = address.charCodeAt(i + 2)
  const hash = keccak256(digits)
  for (let i = 0; i < digits.length; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15
    if (nibble > 7 && digits[i]! >= LOWER_A) digits[i]! -= LOWER_TO_UPPER
  }
  return ADDRESS_TEXT.toString('latin1')
}

export function createdAddress(creatorAndNonceRlp: Uint8Array): Address {
  return addressFromBytes(keccak256(creatorAndNonceRlp))
}

/** The digest that `eth_sign` signs (EIP-191, version 0x45). */
export function messageDigest(message: Uint8Array, chainName: string): Uint8Array {
  const prefix = new TextEncoder().encode(`\x19${chainName} Signed Message:\n${message.length}`)
  return keccak256(concatBytes(prefix, message))
}

export function hashBytes(hash: Hash): Uint8Array {
  return bytesFromHex(hash)
}
