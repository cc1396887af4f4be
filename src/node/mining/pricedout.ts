// Waiting transactions that offer too little: below a block's prices, which chains that behave so drop, or below the least
// price that users set.
import { type DevchainError, unlessRefused } from '../../core/errors.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { blobBaseFeeIn } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { requireBaseFee, requireBlobFee } from '../../protocol/transactions/transactionrules.ts'
import { nonceAt } from '../../state/world.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { DroppedTransaction } from '../ledger/change.ts'
import { pooledByNonce } from '../pool/pool.ts'

/** Each with its reason, including its sender's later ones. Empty where such transactions wait. */
export function pricedOutOf(
  { pool, tree, config }: ChainState,
  block: BlockEnvironment,
): DroppedTransaction[] {
  const pricedOut: DroppedTransaction[] = []
  if (!config.behaviour.dropsPricedOut) return pricedOut
  const { world } = headOf(tree)
  for (const [sender] of pool.bySender.entries()) {
    let error: DevchainError | undefined
    for (let nonce = nonceAt(world, sender); ; nonce += 1n) {
      const transaction = pooledByNonce(pool, sender, nonce)?.transaction
      if (transaction === undefined) break
      error ??= priceError(transaction, block)
      if (error !== undefined) pricedOut.push({ transaction, error })
    }
  }
  return pricedOut
}

function priceError(transaction: Transaction, block: BlockEnvironment): DevchainError | undefined {
  const check = (): undefined => {
    requireBaseFee(transaction, block.baseFee)
    if (transaction.type === 3) requireBlobFee(transaction, blobBaseFeeIn(block))
  }
  return unlessRefused(check, (error) => error)
}

type Priced = Pick<Transaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** The offer beyond the base fee, in wei per gas. */
export function offeredPrice(transaction: Priced, hardfork: Hardfork): bigint {
  return isAtLeast(hardfork, 'london') ? transaction.maxPriorityFeePerGas : transaction.maxFeePerGas
}

export function isTooCheap(state: ChainState, transaction: Priced, hardfork: Hardfork): boolean {
  if (!state.config.behaviour.cheapOnesWait) return false
  return offeredPrice(transaction, hardfork) < state.settings.minGasPrice
}
