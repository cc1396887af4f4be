// Blocks and headers: their fields, encodings and hashes.
import type { Address, Hash } from '../core/hex.ts'
import type { Transaction } from './transaction.ts'

/**
 * A block header (Yellow Paper, 4.4.3). The optional fields are encoded from their fork on and undefined before;
 * `difficulty`, `nonce` and uncles keep their meaning on every fork, unlike on the main network.
 */
export interface Header {
  readonly parentHash: Hash
  readonly sha3Uncles: Hash
  readonly miner: Address
  readonly stateRoot: Hash
  readonly transactionsRoot: Hash
  readonly receiptsRoot: Hash
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
  readonly extraData: Uint8Array
  /** From paris on it is the block's randomness (PREVRANDAO, EIP-4399). */
  readonly mixHash: Hash
  /** 8 bytes. */
  readonly nonce: Uint8Array
  /** Wei per gas; from london on (EIP-1559). */
  readonly baseFeePerGas: bigint | undefined
  /** From shanghai on (EIP-4895). */
  readonly withdrawalsRoot: Hash | undefined
  /** From cancun on (EIP-4844). */
  readonly blobGasUsed: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  /** From cancun on (EIP-4788). */
  readonly parentBeaconBlockRoot: Hash | undefined
  /** From prague on (EIP-7685). */
  readonly requestsHash: Hash | undefined
}

/** A sealed block. `withdrawals` is always an empty list from shanghai on. */
export interface Block {
  readonly header: Header
  readonly hash: Hash
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
  /** Bytes of the block's RLP. */
  readonly size: number
}
