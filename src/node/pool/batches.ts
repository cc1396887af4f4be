// Batches of calls that were sent together, kept for a while: who sent one asks what came of it.
import type { Hash } from '../../core/hex.ts'

/** Calls that were sent together (EIP-5792), each as a transaction of its own. */
export interface CallBatch {
  readonly id: string
  readonly chainId: bigint
  /** How many calls it has. Where one failed, those after it were not sent. */
  readonly size: number
  /** True: either all calls are in one block and succeeded, or none is in any. */
  readonly isAtomic: boolean
  readonly hashes: readonly Hash[]
}

export type CallBatches = readonly CallBatch[]

export const MOST_CALLS = 1_000

/** Batches that a chain keeps; older ones are forgotten, and their transactions are not. */
const MOST_BATCHES = 1_000

export function withBatch(batches: CallBatches, batch: CallBatch): CallBatches {
  return [...batches, batch].slice(-MOST_BATCHES)
}

export function batchById(batches: CallBatches, id: string): CallBatch | undefined {
  return batches.find((each) => each.id === id)
}
