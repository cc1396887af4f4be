// The least price per gas that users set, and which transactions offer less.

import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { ChainState } from '../ledger/chainstate.ts'

type Priced = Pick<Transaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** What a transaction offers beyond the base fee, in wei per gas. */
export function offeredPrice(transaction: Priced, hardfork: Hardfork): bigint {
  return isAtLeast(hardfork, 'london') ? transaction.maxPriorityFeePerGas : transaction.maxFeePerGas
}

/** Whether a transaction that the pool holds has to wait there until the least price falls. */
export function isTooCheap(state: ChainState, transaction: Priced, hardfork: Hardfork): boolean {
  if (!state.config.behaviour.cheapOnesWait) return false
  return offeredPrice(transaction, hardfork) < state.settings.minGasPrice
}
