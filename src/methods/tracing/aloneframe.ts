// Accelerator: makes the frame of a mined transaction without inner calls from its receipt, without running it again.
// It gains three quarters of a small call tree (row smallCallTracerPerS). Its door is `ofAlone` of a recorder, which gets
// `outermostFrame`; without it each transaction runs again, which test/methods/tracing/alone.test.ts compares it with.

import { larger } from '../../core/bigints.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { floorDataGas } from '../../protocol/fees.ts'
import type { GasDimensions } from '../wire/traces/encodeframes.ts'

/**
 * @param stepLimit operations that a trace may have: a transaction that may exceed it runs again, and is refused if it does
 */
export function isFrameKnown(
  { isAlone, receipt, transaction }: ExecutedTransaction,
  stepLimit: number,
): boolean {
  const { blockGas } = receipt
  // a floor that binds hides the refund
  const hasFloor = transaction.data.length + transaction.accessList.length > 0
  if (hasFloor && blockGas && blockGas.execution <= floorDataGas(transaction, 'amsterdam')) {
    return false
  }
  // except for the last, each operation costs gas, at most half of which may have been refunded
  return isAlone === true && 2n * receipt.gasUsed < BigInt(Math.min(stepLimit, MOST_STEPS))
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

/** Stands for no limit. */
const MOST_STEPS = Number.MAX_SAFE_INTEGER
