// Cached Keccak-256 of addresses and storage slots, the keys of the state tries.
import { keccak256 } from '../core/crypto/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../core/hex.ts'
import { memoize } from '../core/lrucache.ts'

/** Entries of one generation; two full ones take about 10 MB. */
const GENERATION = 32_768

// shared by all worlds of the process: hashing is the largest part of a read
/** Shared: do not modify. */
export const addressKey: (address: Address) => Uint8Array = memoize(GENERATION, addressKeyOnce)

/** Shared: do not modify. */
export const slotKey: (slot: bigint) => Uint8Array = memoize(GENERATION, (slot) =>
  keccak256(paddedBytes(slot, 32)),
)

/** As `addressKey`, but not remembered: for more addresses than fit. */
export function addressKeyOnce(address: Address): Uint8Array {
  return keccak256(bytesFromHex(address))
}
