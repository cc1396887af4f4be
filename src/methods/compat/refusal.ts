// A request that was refused, taken apart for the profiles that word the error.
import type { DevchainError, ErrorFacts } from '../../core/errors.ts'

/** What is known of it. */
export interface Refused {
  /** As it was asked for. */
  readonly method: string
  /** In the words of this program. */
  readonly message: string
  /** The numbers and addresses that the message tells; which there are depends on the word. */
  readonly facts: ErrorFacts
  /** Number of the newest block. */
  readonly height: bigint
}

/** What an error says of a refusal. */
export function refusedBy(
  { message, facts }: DevchainError,
  method: string,
  height: bigint,
): Refused {
  return { method, message, facts, height }
}

/** Whether a method runs a message without sending it. */
export function isCall(method: string): boolean {
  return !/send|sign/i.test(method)
}
