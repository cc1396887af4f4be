// Records accounts and slots that a run reads or changes: the prestate for running it elsewhere.
import type { Address } from '../../core/hex.ts'
import type { Touched, Tracer } from '../executor.ts'

export interface TouchRecorder {
  readonly tracer: Tracer
  readonly touched: Touched
}

/** @param known accounts that each run touches: sender, recipient, miner, authorities */
export function recordTouched(known: Iterable<Address>): TouchRecorder {
  const touched = new Map<Address, ReadonlySet<bigint>>()
  for (const address of known) touched.set(address, new Set())
  const tracer: Tracer = {
    onTouched: (found) => {
      for (const [address, slots] of found) touched.set(address, slots)
    },
  }
  return { tracer, touched }
}
