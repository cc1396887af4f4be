// Numbers of JSON-RPC errors that other nodes use.
import type { Refusal } from './profile.ts'

/** Code of a revert whose data is the output (execution-apis). */
export const REVERTED = 3

export const SERVER_ERROR = -32000

export const NOT_FOUND = -32001

export const TRANSACTION_REJECTED = -32003

export const INVALID_PARAMS = -32602

export const INTERNAL_ERROR = -32603

/** Refuses in the same words, whatever the numbers. */
export function refusal(code: number, message: string): Refusal {
  return () => ({ code, message })
}
