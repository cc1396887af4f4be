// Makes the receipt and stored results of a transaction from its outcome.
import { equalBytes } from '../../core/hex.ts'
import type { BlockEnvironment, Outcome } from '../../evm/executor.ts'
import { bloomOf, type Receipt } from '../../protocol/blocks/receipt.ts'
import { blobBaseFeeIn, blobGasOf, effectiveGasPrice } from '../../protocol/fees.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { codeAt, stateRoot } from '../../state/world.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'

export function executedAs(
  transaction: Transaction,
  outcome: Outcome,
  block: BlockEnvironment,
  cumulativeGasUsed: bigint,
): ExecutedTransaction {
  const receipt: Receipt = {
    type: transaction.type,
    status: outcome.failure === undefined,
    root: isAtLeast(block.hardfork, 'byzantium') ? undefined : stateRoot(outcome.world),
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
  }
  const { failure, consoleLines, isAlone } = outcome
  return { transaction, receipt, output: keptOutput(outcome), failure, consoleLines, isAlone }
}

/** Deployed code shares the bytes that the world keeps already. */
function keptOutput({ failure, created, output, world }: Outcome): Uint8Array {
  if (failure !== undefined || created === undefined) return output
  const code = codeAt(world, created)
  return equalBytes(code, output) ? code : output
}
