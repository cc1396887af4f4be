// The least gas price that users set, compared with transactions' offers.

import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { ChainState } from '../ledger/chainstate.ts'

type Priced = Pick<Transaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** The offer beyond the base fee, in wei per gas. */
export function offeredPrice(transaction: Priced, hardfork: Hardfork): bigint {
  return isAtLeast(hardfork, 'london') ? transaction.maxPriorityFeePerGas : transaction.maxFeePerGas
}

export function isTooCheap(state: ChainState, transaction: Priced, hardfork: Hardfork): boolean {
  if (!state.config.behaviour.cheapOnesWait) return false
  return offeredPrice(transaction, hardfork) < state.settings.minGasPrice
}
