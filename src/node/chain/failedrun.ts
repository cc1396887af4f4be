// Keeps with a failed outcome or error how to run it again under a tracer.
import type { MaybePromise } from '../../core/promises.ts'
import type { Tracer } from '../../evm/executor.ts'
import type { World } from '../../state/world.ts'

/** @returns the world that it ran on */
export type Rerun = (tracer: Tracer) => MaybePromise<World>

const runs = new WeakMap<object, Rerun>()

export function withRerun<E extends object>(failed: E, rerun: Rerun | undefined): E {
  if (rerun !== undefined) runs.set(failed, rerun)
  return failed
}

/** Undefined if nothing ran. */
export function rerunOf(failed: object): Rerun | undefined {
  return runs.get(failed)
}
