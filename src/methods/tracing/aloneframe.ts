// Accelerator: the frame of a mined transaction that opened no other, without running it again.
//
// It gains three quarters of a small call tree (row smallCallTracerPerS). Its door is `ofAlone` of a recorder; without it each
// transaction is run again, which test/methods/tracing/alone.test.ts holds it against.

import { revertText } from '../../evm/reasons.ts'
import type { CallFrame, FrameLog } from '../../evm/tracers/calls.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'

/**
 * Whether the frame is known.
 * @param stepLimit operations that a trace may have: one that may have more is run, and refused where it has
 */
export function isFrameKnown(
  { isAlone, receipt }: ExecutedTransaction,
  stepLimit: number,
): boolean {
  // but for the last one, an operation costs gas, of which half may have been given back
  return isAlone === true && 2n * receipt.gasUsed < BigInt(Math.min(stepLimit, MOST_STEPS))
}

/** What limits that are none come to. */
const MOST_STEPS = Number.MAX_SAFE_INTEGER

/**
 * The frame as a run under a tracer of calls would tell it, with the gas of the whole transaction.
 * @param logsBefore logs of the block before those of the transaction; undefined: without logs
 */
export function knownFrame(
  { transaction, receipt, output, failure }: ExecutedTransaction,
  logsBefore: number | undefined,
): CallFrame {
  const { from, to, value, gasLimit, data } = transaction
  return {
    kind: to === null ? 'CREATE' : 'CALL',
    from,
    to: to ?? (failure === undefined ? receipt.contractAddress : null),
    value,
    gas: gasLimit,
    gasUsed: receipt.gasUsed,
    input: data,
    output,
    failure,
    revertText: failure?.kind === 'revert' ? revertText(output) : undefined,
    isPrecompile: false,
    calls: [],
    logs: logsBefore === undefined ? [] : logsOf(receipt.logs, logsBefore),
  }
}

function logsOf(logs: ExecutedTransaction['receipt']['logs'], before: number): FrameLog[] {
  return logs.map((log, i) => ({ log, position: 0, index: before + i }))
}
