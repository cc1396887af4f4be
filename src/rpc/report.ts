// The report of a call, for the log.

import type { ErrorObject } from './errors.ts'
import type { Method } from './method.ts'
import type { Json } from './schema.ts'

/** A call that was answered, for the log; also a message that could not be read as one: its method is `(unreadable)`. */
export interface CallReport {
  readonly method: string
  /** As they were sent, but for secrets. */
  readonly params: Json
  readonly durationMs: number
  /** What the method answered, or of a very long answer how long it is; undefined when it failed. */
  readonly result: Json | undefined
  readonly error: ErrorObject | undefined
  /** Remarks on its parameters, which the caller does not get. */
  readonly notes: readonly string[]
}

/** What is known of a call besides its report. */
export interface CallDetails<C> {
  /** Undefined where no method has the name, or none could be read. */
  readonly method: Method<C> | undefined
  /** What the call did, where its result does not say it. */
  readonly told: string | undefined
  /** What a failed call's error was made of: it may know more than callers are told. */
  readonly thrown: unknown
}

/** Stands in reports where a message names no method, because it cannot be read as a request. */
export const UNREADABLE = '(unreadable)'
