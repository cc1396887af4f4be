// Proof of work (Ethash): seal hash, target and seed.
import { MAX_UINT256 } from '../../core/bigints.ts'
import { keccak256, keccakHash } from '../../core/crypto/crypto.ts'
import { type Hash, hashFromBytes } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import { type Header, headerItems } from '../blocks/header.ts'

/** Blocks of one cache and seed (Ethash). */
const EPOCH_LENGTH = 30_000n

/** `mixHash` and `nonce`, the 14th and 15th fields. */
const PROOF = { at: 13, fields: 2 }

/** Keccak-256 of the header's RLP without `mixHash` and `nonce`; includes fields of later forks. */
export function sealHash(header: Header): Hash {
  return keccakHash(encodeRlp(headerItems(header).toSpliced(PROOF.at, PROOF.fields)))
}

/** 2^256 / difficulty, capped to 32 bytes; a difficulty of 0 counts as 1. */
export function targetOf(difficulty: bigint): bigint {
  return difficulty <= 1n ? MAX_UINT256 : 2n ** 256n / difficulty
}

/** 32 zero bytes, hashed once for each 30,000 blocks. */
export function seedHash(number: bigint): Hash {
  let seed: Uint8Array = new Uint8Array(32)
  for (let epoch = number / EPOCH_LENGTH; epoch > 0n; epoch -= 1n) seed = keccak256(seed)
  return hashFromBytes(seed)
}
