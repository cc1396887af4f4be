// Proof of work: what is worked on, how hard it is, and the block that comes of it.
import { keccak256, keccakHash } from '../../core/crypto/crypto.ts'
import { type Hash, hashFromBytes } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import { type Header, headerItems } from '../blocks/header.ts'

/** Blocks for which one cache, and so one seed, is used (Ethash). */
const EPOCH_LENGTH = 30_000n

const MAX_TARGET = 2n ** 256n - 1n

/** Where a header holds its proof: `mixHash` and `nonce`, the 14th and 15th of its fields. */
const PROOF = { at: 13, fields: 2 }

/**
 * What work is done for: Keccak-256 of the header's RLP without `mixHash` and `nonce`. Fields of later forks count, as
 * they do for the block's hash.
 */
export function sealHash(header: Header): Hash {
  return keccakHash(encodeRlp(headerItems(header).toSpliced(PROOF.at, PROOF.fields)))
}

/**
 * The highest result, as an integer, that proves work of a difficulty: 2^256 divided by it, at most what 32 bytes hold.
 * A difficulty of 0 counts as 1.
 */
export function targetOf(difficulty: bigint): bigint {
  return difficulty <= 1n ? MAX_TARGET : 2n ** 256n / difficulty
}

/** The seed of the cache that work on block `number` is proved with: 32 zero bytes, hashed once for each 30,000 blocks. */
export function seedHash(number: bigint): Hash {
  let seed: Uint8Array = new Uint8Array(32)
  for (let epoch = number / EPOCH_LENGTH; epoch > 0n; epoch -= 1n) seed = keccak256(seed)
  return hashFromBytes(seed)
}
