// A request that was refused, and how the profiles word the error: in texts where {next} stands for a fact of it.
import type { ErrorFacts } from '../../core/errors.ts'
import type { ErrorObject } from '../../rpc/errors.ts'

export interface Refused {
  readonly method: string
  /** In the words of this program. */
  readonly message: string
  /** The numbers and addresses that the message tells; which there are depends on the word. */
  readonly facts: ErrorFacts
  readonly height: bigint
}

/** How a node words the refusal of a request; undefined: as devchain does. */
export type Refusal = (refused: Refused) => ErrorObject | undefined

/** A text in which {method}, {message}, {height} and the facts by name are filled in. */
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

/** What is no name of anything known stays. */
export function filledIn(words: Words, refused: Refused): string {
  const { method, message, facts, height } = refused
  const known: ErrorFacts = { ...facts, method, message, height }
  const text = typeof words === 'string' ? words : words(refused)
  return text.replace(/\{(\w+)\}/g, (name, key) => String(known[key] ?? name))
}

/** Whether a method runs a message without sending it. */
export function isCall(method: string): boolean {
  return !/send|sign/i.test(method)
}
