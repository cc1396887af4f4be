// How what failed can be run again under a tracer, for who explains the failure: kept with its outcome or its error, and gone with it.
import type { MaybePromise } from '../../core/promises.ts'
import type { Tracer } from '../../evm/executor.ts'
import type { World } from '../../state/world.ts'

/** Runs something again, which changes nothing. @returns the accounts that it ran on */
export type Again = (tracer: Tracer) => MaybePromise<World>

const runs = new WeakMap<object, Again>()

/** The outcome or error, with how to run again what failed. */
export function withRun<E extends object>(failed: E, again: Again | undefined): E {
  if (again !== undefined) runs.set(failed, again)
  return failed
}

/** How to run again what came to this outcome or error; undefined where nothing ran. */
export function runOf(failed: object): Again | undefined {
  return runs.get(failed)
}
