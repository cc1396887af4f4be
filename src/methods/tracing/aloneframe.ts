// Accelerator: the frame of a mined transaction that opened no other, without running it again.
//
// It gains three quarters of a small call tree (row smallCallTracerPerS). Its door is `ofAlone` of a recorder, which tells
// `outermostFrame`; without it each transaction is run again, which test/methods/tracing/alone.test.ts holds it against.

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
