// Keys of the state tries: Keccak-256 of addresses and storage slots, remembered for a while.
import { keccak256 } from '../core/crypto/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../core/hex.ts'
import { memoize } from '../core/lrucache.ts'

/** Entries of one generation; the two of them, full, are about 10 MB. */
const GENERATION = 32_768

// Shared by all worlds of the process: a hash is the same everywhere, and costs more than all else in a read.
const addressKeys = memoize(GENERATION, (address: Address) => keccak256(bytesFromHex(address)))
const slotKeys = memoize(GENERATION, (slot: bigint) => keccak256(paddedBytes(slot, 32)))

/** Key of an account in the state trie. Not to be changed: it is shared. */
export function addressKey(address: Address): Uint8Array {
  return addressKeys(address)
}

/** Key of a slot in an account's storage trie. Not to be changed: it is shared. */
export function slotKey(slot: bigint): Uint8Array {
  return slotKeys(slot)
}
