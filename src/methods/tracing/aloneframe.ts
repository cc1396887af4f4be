// Accelerator: makes the frame of a mined transaction without inner calls from its receipt, without running it again.
// It gains three quarters of a small call tree (row smallCallTracerPerS). Its door is `ofAlone` of a recorder, which gets
// `outermostFrame`; without it each transaction runs again, which test/methods/tracing/alone.test.ts compares it with.

import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'

/**
 * @param stepLimit operations that a trace may have: a transaction that may exceed it runs again, and is refused if it does
 */
export function isFrameKnown(
  { isAlone, receipt }: ExecutedTransaction,
  stepLimit: number,
): boolean {
  // except for the last, each operation costs gas, at most half of which may have been refunded
  return isAlone === true && 2n * receipt.gasUsed < BigInt(Math.min(stepLimit, MOST_STEPS))
}

/** Stands for no limit. */
const MOST_STEPS = Number.MAX_SAFE_INTEGER
