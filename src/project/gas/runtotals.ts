// Counts over all transactions of a run.
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'

/** Of all transactions, with and without a name; gas after refunds. */
export interface RunTotals {
  readonly transactions: number
  readonly failed: number
  readonly logs: number
  readonly gasUsed: number
  readonly stateGasUsed: number
}

export const NO_TOTALS: RunTotals = {
  transactions: 0,
  failed: 0,
  logs: 0,
  gasUsed: 0,
  stateGasUsed: 0,
}

export function totalsOf({ receipt, failure }: ExecutedTransaction): RunTotals {
  return {
    transactions: 1,
    failed: failure === undefined ? 0 : 1,
    logs: receipt.logs.length,
    gasUsed: Number(receipt.gasUsed),
    stateGasUsed: Number(receipt.blockGas?.state ?? 0n),
  }
}

export function sumOf(a: RunTotals, b: RunTotals): RunTotals {
  return {
    transactions: a.transactions + b.transactions,
    failed: a.failed + b.failed,
    logs: a.logs + b.logs,
    gasUsed: a.gasUsed + b.gasUsed,
    stateGasUsed: a.stateGasUsed + b.stateGasUsed,
  }
}
