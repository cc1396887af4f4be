// Transactions as values, and their encodings: legacy (type 0), access list (1), dynamic fee (2), set code (4).
import type { Address, Hash } from '../core/hex.ts'

/** An address and the storage keys of it that a transaction declares in advance (EIP-2930). */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/** An account's permission to run another account's code as its own (EIP-7702). */
export interface Authorization {
  readonly chainId: bigint
  readonly address: Address
  readonly nonce: bigint
  readonly yParity: 0 | 1
  readonly r: bigint
  readonly s: bigint
}

export type TransactionType = 0 | 1 | 2 | 4

/** What a sender decides about a transaction, before it is signed. Amounts in wei. */
export interface UnsignedTransaction {
  readonly type: TransactionType
  /** Undefined in legacy transactions without replay protection (before EIP-155). */
  readonly chainId: bigint | undefined
  readonly nonce: bigint
  readonly gasLimit: bigint
  /** Wei per gas. In types 0 and 1 this and `maxPriorityFeePerGas` are both the gas price. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Null creates a contract. */
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  /** Empty in type 0. */
  readonly accessList: readonly AccessListEntry[]
  /** Empty but in type 4. */
  readonly authorizationList: readonly Authorization[]
}

/** A signed transaction. `raw` is its canonical encoding, of which `hash` is the Keccak-256. */
export interface Transaction extends UnsignedTransaction {
  readonly from: Address
  readonly hash: Hash
  readonly raw: Uint8Array
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}
