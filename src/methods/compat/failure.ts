// An execution that failed, taken apart for the profiles that word the error.
import type { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, hexFromBytes, parseBytes } from '../../core/hex.ts'
import { EXECUTION_ERROR, errorText, panicCode, type SourceCause } from '../../evm/reasons.ts'

export interface FailedExecution {
  /** In the words of this program: `revert too small`, `out of gas`. */
  readonly reason: string
  /** What it returned, as hex. */
  readonly data: string
  /** Of the transaction that it was, which is mined; undefined for a call or an estimate. */
  readonly hash: string | undefined
  readonly cause: Cause
  /** Undefined where the user's source is not known, or says nothing of it. */
  readonly sourceCause: SourceCause | undefined
  /** Of an estimate that all gas it may have does not suffice for. */
  readonly allowance: bigint | undefined
}

export type Cause =
  | { readonly kind: 'halt' }
  /** Without a word. */
  | { readonly kind: 'revert' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'panic'; readonly code: bigint }
  | { readonly kind: 'custom' }

/** What an error says of an execution; undefined for errors of other kinds. */
export function failureOf(
  error: DevchainError,
  sourceCause?: SourceCause,
): FailedExecution | undefined {
  const { word, message, data, facts } = error
  if (word !== 'EXECUTION_REVERTED' && word !== 'EXECUTION_HALTED') return undefined
  const { hash, data: output } = factsOf(data)
  const reason = message.startsWith(EXECUTION_ERROR)
    ? message.slice(EXECUTION_ERROR.length)
    : message
  const cause: Cause = word === 'EXECUTION_HALTED' ? { kind: 'halt' } : causeOf(output)
  const allowance = facts.allowance === undefined ? undefined : BigInt(facts.allowance)
  return { reason, data: hexFromBytes(output), hash, cause, sourceCause, allowance }
}

/** The data of such an error is the output, or `{hash, data}` when it was a transaction. */
function factsOf(data: unknown): { readonly hash: string | undefined; readonly data: Uint8Array } {
  if (typeof data === 'string') return { hash: undefined, data: parseBytes(data) }
  const { hash, data: output } = (data ?? {}) as { readonly hash?: string; readonly data?: string }
  return { hash, data: output === undefined ? EMPTY_BYTES : parseBytes(output) }
}

function causeOf(output: Uint8Array): Cause {
  const text = errorText(output)
  if (text !== undefined) return text === '' ? { kind: 'revert' } : { kind: 'text', text }
  const code = panicCode(output)
  if (code !== undefined) return { kind: 'panic', code }
  return output.length === 0 ? { kind: 'revert' } : { kind: 'custom' }
}

/** A revert in the words of execution-apis, with its reason if it has one. */
export function reverted(reason: string | undefined): string {
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}
