// Recent batches of calls (EIP-5792), for status requests.
import type { Hash } from '../../core/hex.ts'

export interface CallBatch {
  readonly id: string
  readonly chainId: bigint
  /** A failed call ends the batch: those after it were not sent. */
  readonly size: number
  /** All calls are in one block and succeeded, or none is in any. */
  readonly isAtomic: boolean
  readonly hashes: readonly Hash[]
}

export type CallBatches = readonly CallBatch[]

export const MOST_CALLS = 1_000

const MOST_BATCHES = 1_000

export function withBatch(batches: CallBatches, batch: CallBatch): CallBatches {
  return [...batches, batch].slice(-MOST_BATCHES)
}

export function batchById(batches: CallBatches, id: string): CallBatch | undefined {
  return batches.find((each) => each.id === id)
}
