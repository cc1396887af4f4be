// Refused requests, and their wording by profiles: texts in which {next} stands for a fact.
import type { ErrorFacts } from '../../core/errors.ts'
import type { ErrorObject } from '../../rpc/errors.ts'

export interface Refused {
  readonly method: string
  /** In devchain's words. */
  readonly message: string
  /** The message's numbers and addresses; which exist depends on the error word. */
  readonly facts: ErrorFacts
  readonly height: bigint
}

/** A node's wording of a refusal; undefined: devchain's. */
export type Refusal = (refused: Refused) => ErrorObject | undefined

/** A text with {method}, {message}, {height} and facts by name. */
export type Words = string | ((refused: Refused) => string)

/** Code of a revert whose data is the output (execution-apis). */
export const REVERTED = 3

export const SERVER_ERROR = -32000

export const NOT_FOUND = -32001

export const TRANSACTION_REJECTED = -32003

export const INVALID_PARAMS = -32602

export const INTERNAL_ERROR = -32603

export function refusal(code: number, words: Words): Refusal {
  return (refused) => ({ code, message: filledIn(words, refused) })
}

/** Unknown names stay as they are. */
export function filledIn(words: Words, refused: Refused): string {
  const { method, message, facts, height } = refused
  const known: ErrorFacts = { ...facts, method, message, height }
  const text = typeof words === 'string' ? words : words(refused)
  return text.replace(/\{(\w+)\}/g, (name, key) => String(known[key] ?? name))
}

/** True if the method runs a message without sending it. */
export function isCall(method: string): boolean {
  return !/send|sign/i.test(method)
}
