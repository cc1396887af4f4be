// Makes the receipt and stored results of a transaction from its outcome.
import { equalBytes } from '../../core/hex.ts'
import type { BlockEnvironment, Outcome } from '../../evm/executor.ts'
import { bloomOf } from '../../protocol/blocks/bloom.ts'
import type { Receipt } from '../../protocol/blocks/receipt.ts'
import { blobBaseFeeIn, blobGasOf, effectiveGasPrice } from '../../protocol/fees.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Overlay } from '../../state/overlay.ts'
import { stateRoot } from '../../state/world.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'

/** @param draft the block up to and including this transaction */
export function executedAs(
  transaction: Transaction,
  outcome: Outcome,
  block: BlockEnvironment,
  cumulativeGasUsed: bigint,
  draft: Overlay,
): ExecutedTransaction {
  const receipt: Receipt = {
    type: transaction.type,
    status: outcome.failure === undefined,
    root: isAtLeast(block.hardfork, 'byzantium') ? undefined : stateRoot(draft.settle()),
    cumulativeGasUsed,
    gasUsed: outcome.gasUsed,
    effectiveGasPrice: effectiveGasPrice(transaction, block.baseFee),
    logsBloom: bloomOf(outcome.logs),
    logs: outcome.logs,
    contractAddress: transaction.to === null ? (outcome.created ?? null) : null,
    blobGas: transaction.blobs && {
      used: blobGasOf(transaction),
      price: blobBaseFeeIn(block),
    },
    blockGas: outcome.blockGas,
  }
  const { failure, consoleLines, isAlone } = outcome
  return {
    transaction,
    receipt,
    output: keptOutput(outcome, draft),
    failure,
    consoleLines,
    isAlone,
  }
}

/** Deployed code shares the bytes that the world keeps already. */
function keptOutput({ failure, created, output }: Outcome, draft: Overlay): Uint8Array {
  if (failure !== undefined || created === undefined) return output
  const code = draft.code(created)
  return equalBytes(code, output) ? code : output
}
