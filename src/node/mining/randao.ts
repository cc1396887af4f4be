// What contracts learn as randomness (PREVRANDAO) on a chain that nobody stakes on.
import { hashBytes, keccakHash } from '../../core/crypto/crypto.ts'
import { concatBytes, type Hash, paddedBytes } from '../../core/hex.ts'

/**
 * The same chain mined twice has the same randomness: it depends on the parent, the number and, once blocks were
 * abandoned, on how many: a block that takes another's place is another block, even with the same transactions.
 */
export function derivedRandao(parentHash: Hash, number: bigint, abandoned: number): Hash {
  return keccakHash(randaoSeed(hashBytes(parentHash), number, abandoned))
}

/** What the randomness is the hash of: begins with the parent's hash. */
export function randaoSeed(parentHash: Uint8Array, number: bigint, abandoned: number): Uint8Array {
  const seed = concatBytes(parentHash, paddedBytes(number, 32))
  return abandoned === 0 ? seed : concatBytes(seed, paddedBytes(BigInt(abandoned), 32))
}
