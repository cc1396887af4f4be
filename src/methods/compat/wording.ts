// How profiles word errors: texts in which {next} stands for a fact.
import type { ErrorFacts } from '../../core/errors.ts'
import type { ErrorObject } from '../../rpc/errors.ts'

export interface RefusedCall {
  readonly method: string
  /** devchain's own. */
  readonly message: string
  /** The message's numbers and addresses; which exist depends on the error word. */
  readonly facts: ErrorFacts
  /** Number of the newest block. */
  readonly height: bigint
}

/**
 * A node's wording of an error: a message, an error with another code than the profile's usual one, or a choice by the
 * call. Messages have {method}, {message}, {height} and facts by name. Undefined: devchain's wording.
 */
export type Wording = string | ErrorObject | ((call: RefusedCall) => Wording) | undefined

/** devchain's message with the profile's usual code. */
export const SAME_MESSAGE = '{message}'

/** Code of a revert whose data is the output (execution-apis). */
export const REVERTED = 3

export const SERVER_ERROR = -32000

export const NOT_FOUND = -32001

export const TRANSACTION_REJECTED = -32003

export const INVALID_PARAMS = -32602

export const INTERNAL_ERROR = -32603

/** True if the method runs a message without sending it. */
export function isCall(method: string): boolean {
  return !/send|sign/i.test(method)
}
