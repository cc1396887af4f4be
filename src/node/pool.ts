// Transactions that wait to be mined.
import type { Transaction } from '../protocol/transaction.ts'

/** A waiting transaction; `arrival` counts all that ever entered the chain's pool. */
export interface PooledTransaction {
  readonly transaction: Transaction
  readonly arrival: number
}

/** To be written: by sender and nonce, and by hash, both persistent. */
export interface Pool {
  readonly size: number
  /** The arrival number of the newest transaction that ever entered. */
  readonly lastArrival: number
}
