// Keeps with a failed outcome or error how to run it again under a tracer.
import type { MaybePromise } from '../../core/promises.ts'
import type { Tracer } from '../../evm/executor.ts'
import type { World } from '../../state/world.ts'

/** @returns the world that it ran on */
export type Again = (tracer: Tracer) => MaybePromise<World>

const runs = new WeakMap<object, Again>()

export function withRun<E extends object>(failed: E, again: Again | undefined): E {
  if (again !== undefined) runs.set(failed, again)
  return failed
}

/** Undefined if nothing ran. */
export function runOf(failed: object): Again | undefined {
  return runs.get(failed)
}
