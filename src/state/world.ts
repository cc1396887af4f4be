// The world: every account after a block, as one immutable value.
import type { Address, Hash } from '../core/hex.ts'
import type { Trie } from './trie.ts'

/** A non-zero storage slot of a contract. */
export interface StorageSlot {
  readonly slot: bigint
  readonly value: bigint
}

/** An account. Code is shared between accounts by reference. */
export interface Account {
  readonly address: Address
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  readonly codeHash: Hash
  readonly code: Uint8Array
  /** Keyed by the Keccak-256 of the slot; holds no zero values. */
  readonly storage: Trie<StorageSlot>
}

/** All accounts, keyed by the Keccak-256 of the address. Immutable; a change shares what did not change. */
export interface World {
  readonly accounts: Trie<Account>
}
