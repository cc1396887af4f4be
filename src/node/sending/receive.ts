// Transactions that others send on: each that may wait here does so.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { mineWaiting } from '../mining/miner.ts'
import { admit } from './admission.ts'

/** A transaction that may not wait, and why. */
export interface RefusedTransaction {
  readonly hash: Hash
  readonly error: DevchainError
}

/**
 * Puts transactions into the pool, those that may wait.
 * @param mines true: instant mining mines them; else they wait for a block that comes for another reason
 * @returns those that may not
 */
export function receiveTransactions(
  chain: Chain,
  transactions: readonly Transaction[],
  mines: boolean,
): Promise<readonly RefusedTransaction[]> {
  return chain.update(async (state, executor) => {
    const now = chain.environment.now()
    const { state: waiting, value: refused } = admitAll(state, transactions, now)
    if (!(mines && isInstant(state.mining)) || waiting === state) {
      return { state: waiting, value: refused }
    }
    const mined = await mineWaiting(executor, waiting, now)
    return { state: mined.state, value: refused, dropped: mined.dropped }
  })
}

function admitAll(
  state: ChainState,
  transactions: readonly Transaction[],
  now: number,
): Change<readonly RefusedTransaction[]> {
  const refused: RefusedTransaction[] = []
  let current = state
  for (const transaction of transactions) {
    try {
      current = { ...current, pool: admit(current, transaction, now) }
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
      refused.push({ hash: transaction.hash, error })
    }
  }
  return { state: current, value: refused }
}
