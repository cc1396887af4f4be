// Receipts and logs: what a transaction leaves in its block besides state.
import type { Address, Hash } from '../core/hex.ts'
import type { TransactionType } from './transaction.ts'

/** An event that a contract emitted. */
export interface Log {
  readonly address: Address
  /** At most four. */
  readonly topics: readonly Hash[]
  readonly data: Uint8Array
}

/** The receipt of one transaction (Yellow Paper, 4.4.1), with what clients ask of it besides. */
export interface Receipt {
  readonly type: TransactionType
  /** From byzantium on: true for success. */
  readonly status: boolean
  /** Before byzantium: the state root after this transaction, encoded in place of the status. */
  readonly root: Hash | undefined
  /** Gas used in the block up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  /** The contract that a creation made (also a failed one's address, as geth gives it), else null. */
  readonly contractAddress: Address | null
}
