// The report of a call, for the log.
import type { ErrorObject } from './errors.ts'
import type { Method } from './method.ts'
import type { Json } from './schema.ts'

/** A call, or a message that cannot be read as one: its method is `(unreadable)`. */
export interface CallReport {
  readonly method: string
  /** As sent, without secrets. */
  readonly params: Json
  readonly durationMs: number
  /** The result, or the size of a very long one; undefined after a failure. */
  readonly result: Json | undefined
  readonly error: ErrorObject | undefined
  /** Notes on its parameters, which the caller does not get. */
  readonly notes: readonly string[]
}

export interface CallDetails<C> {
  /** Undefined for unknown or unreadable methods. */
  readonly method: Method<C> | undefined
  /** What the call did, if its result does not show it. */
  readonly description: string | undefined
  /** The original error of a failed call: it may have more detail than the caller gets. */
  readonly thrown: unknown
}

/** The method name in reports of messages that cannot be read as a request. */
export const UNREADABLE = '(unreadable)'
