// How what failed can be run again under a tracer, for who explains the failure: kept with its error, and gone with it.
import type { MaybePromise } from '../../core/promises.ts'
import type { Tracer } from '../../evm/executor.ts'
import type { World } from '../../state/world.ts'

/** Runs something again, which changes nothing. @returns the accounts that it ran on */
export type Again = (tracer: Tracer) => MaybePromise<World>

const runs = new WeakMap<object, Again>()

/** The error, with how to run again what failed. */
export function withRun<E extends object>(error: E, again: Again): E {
  runs.set(error, again)
  return error
}

/** How to run again what failed with this error; undefined where nothing ran. */
export function runOf(error: object): Again | undefined {
  return runs.get(error)
}
