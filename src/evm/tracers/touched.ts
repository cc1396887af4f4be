// Records which accounts and slots a run read or changed: the prestate that is needed to run it again elsewhere.
import type { Address } from '../../core/hex.ts'
import type { Touched, Tracer } from '../executor.ts'

export interface TouchRecorder {
  readonly tracer: Tracer
  readonly touched: Touched
}

/**
 * Records what a run touches.
 * @param known accounts that are touched whatever the run does: sender, recipient, miner, authorities
 */
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
