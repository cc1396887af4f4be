// Commands that change the settings of later blocks, and the accounts.
import { blockGasError } from '../../protocol/transactions/transactionrules.ts'
import type { AccountBook } from '../accounts/accounts.ts'
import type { ChainState, Settings } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { pooledInOrder, withoutTransactions } from '../pool/pool.ts'

export function setGasLimit(state: ChainState, blockGasLimit: bigint): Change<undefined> {
  const settings = { ...state.settings, blockGasLimit }
  if (!state.config.behaviour.limitEmptiesPool)
    return { state: { ...state, settings }, value: undefined }
  const dropped = pooledInOrder(state.pool)
    .filter(({ transaction }) => transaction.gasLimit > blockGasLimit)
    .map(({ transaction }) => ({
      transaction,
      error: blockGasError(transaction.gasLimit, blockGasLimit),
    }))
  const pool = withoutTransactions(state.pool, dropped)
  return { state: { ...state, settings, pool }, value: undefined, dropped }
}

export function changeSettings(state: ChainState, settings: Partial<Settings>): Change<undefined> {
  return { state: { ...state, settings: { ...state.settings, ...settings } }, value: undefined }
}

export function changeAccounts(state: ChainState, accounts: AccountBook): Change<undefined> {
  return { state: { ...state, accounts }, value: undefined }
}
