// Cached Keccak-256 of addresses and storage slots, the keys of the state tries.
import { keccak256 } from '../core/crypto/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../core/hex.ts'
import { memoize } from '../core/lrucache.ts'

/** Entries of one generation; two full ones take about 10 MB. */
const GENERATION = 32_768

// shared by all worlds of the process: hashing is the largest part of a read
const addressKeys = memoize(GENERATION, addressKeyOnce)
const slotKeys = memoize(GENERATION, (slot: bigint) => keccak256(paddedBytes(slot, 32)))

/** As `addressKey`, but not remembered: for more addresses than fit. */
export function addressKeyOnce(address: Address): Uint8Array {
  return keccak256(bytesFromHex(address))
}

/** Shared: do not modify. */
export function addressKey(address: Address): Uint8Array {
  return addressKeys(address)
}

/** Shared: do not modify. */
export function slotKey(slot: bigint): Uint8Array {
  return slotKeys(slot)
}
