// Accelerator: makes the frames of mined transactions without inner calls from their receipts, without running them again.
// It gains three quarters of a small call tree (rows smallCallTracerPerS, blockCallTracerMs). Its door is `ofAlone` of a recorder, which gets
// `outermostFrame`; without it each transaction runs again, which test/methods/tracing/alone.test.ts compares it with.
import { larger } from '../../core/bigints.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { floorDataGas } from '../../protocol/fees.ts'
import type { GasDimensions } from '../wire/traces/encodeframes.ts'

/** Nothing runs then, so that the limit of steps does not matter. */
export function areFramesKnown(transactions: readonly ExecutedTransaction[]): boolean {
  return transactions.every((each) => each.isAlone === true && !hidesRefund(each))
}

/** A floor that binds does. */
function hidesRefund({ receipt: { blockGas }, transaction }: ExecutedTransaction): boolean {
  const hasFloor = transaction.data.length + transaction.accessList.length > 0
  if (blockGas === undefined || !hasFloor) return false
  return blockGas.execution <= floorDataGas(transaction, 'amsterdam')
}

/** Undefined before amsterdam. */
export function knownDimensions({ receipt }: ExecutedTransaction): GasDimensions | undefined {
  const { blockGas, gasUsed } = receipt
  if (blockGas === undefined) return undefined
  const { execution, state } = blockGas
  return {
    executionGasUsed: execution,
    stateGasUsed: state,
    gasRefund: larger(execution + state - gasUsed, 0n),
  }
}
