// Drops waiting transactions from the pool.
import { invalidParams } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import {
  pooledByHash,
  pooledInOrder,
  withoutTransaction,
  withoutTransactions,
} from '../pool/pool.ts'

/** False when no such transaction waits. Throws `INVALID_PARAMS` when it is mined already. */
export function dropTransaction(state: ChainState, hash: Hash): Change<boolean> {
  const pooled = pooledByHash(state.pool, hash)
  if (pooled !== undefined) {
    const pool = withoutTransaction(state.pool, pooled.transaction)
    return { state: { ...state, pool }, value: true }
  }
  const place = transactionPlace(state.tree, hash)
  if (place === undefined) return { state, value: false }
  const { number } = place.record.block.header
  const message = `transaction ${hash} is in block ${number}: only one that waits can be dropped`
  throw invalidParams(message)
}

/** Drops a sender's waiting transactions, or all. Its value is how many there were. */
export function dropTransactions(state: ChainState, sender?: Address): Change<number> {
  const gone = pooledInOrder(state.pool).filter(
    ({ transaction }) => sender === undefined || transaction.from === sender,
  )
  const pool = withoutTransactions(state.pool, gone)
  return { state: gone.length === 0 ? state : { ...state, pool }, value: gone.length }
}
