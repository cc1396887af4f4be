// The randomness (PREVRANDAO) of a chain without stakers.
import { hashBytes, keccakHash } from '../../core/crypto/crypto.ts'
import { concatBytes, type Hash, paddedBytes } from '../../core/hex.ts'

/** Deterministic: from the parent, the number and the count of abandoned blocks, so that a replacement block differs. */
export function derivedRandao(parentHash: Hash, number: bigint, abandoned: number): Hash {
  return keccakHash(randaoSeed(hashBytes(parentHash), number, abandoned))
}

export function randaoSeed(parentHash: Uint8Array, number: bigint, abandoned: number): Uint8Array {
  const seed = concatBytes(parentHash, paddedBytes(number, 32))
  return abandoned === 0 ? seed : concatBytes(seed, paddedBytes(BigInt(abandoned), 32))
}
