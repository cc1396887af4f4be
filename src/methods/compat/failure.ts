// Facts of a failed execution, from which profiles make their errors.
import type { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, hexFromBytes, parseBytes } from '../../core/hex.ts'
import { EXECUTION_ERROR, errorText, panicCode, type SourceCause } from '../../evm/reasons.ts'

export interface FailedExecution {
  /** In devchain's words: `revert too small`, `out of gas`. */
  readonly reason: string
  /** Return data as hex. */
  readonly data: string
  /** Of the mined transaction; undefined for a call or estimate. */
  readonly hash: string | undefined
  readonly cause: FailureCause
  /** Undefined if the user's source does not explain it. */
  readonly sourceCause: SourceCause | undefined
  /** Set for an estimate that fails even with all available gas. */
  readonly allowance: bigint | undefined
}

export type FailureCause =
  | { readonly kind: 'halt' }
  /** Without a reason. */
  | { readonly kind: 'revert' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'panic'; readonly code: bigint }
  | { readonly kind: 'custom' }

/** Undefined for errors that are no failed executions. */
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
  const cause: FailureCause = word === 'EXECUTION_HALTED' ? { kind: 'halt' } : causeOf(output)
  const allowance = facts.allowance === undefined ? undefined : BigInt(facts.allowance)
  return { reason, data: hexFromBytes(output), hash, cause, sourceCause, allowance }
}

/** The data is the output, or `{hash, data}` for a transaction. */
function factsOf(data: unknown): { readonly hash: string | undefined; readonly data: Uint8Array } {
  if (typeof data === 'string') return { hash: undefined, data: parseBytes(data) }
  const { hash, data: output } = (data ?? {}) as { readonly hash?: string; readonly data?: string }
  return { hash, data: output === undefined ? EMPTY_BYTES : parseBytes(output) }
}

function causeOf(output: Uint8Array): FailureCause {
  const text = errorText(output)
  if (text !== undefined) return text === '' ? { kind: 'revert' } : { kind: 'text', text }
  const code = panicCode(output)
  if (code !== undefined) return { kind: 'panic', code }
  return output.length === 0 ? { kind: 'revert' } : { kind: 'custom' }
}

/** The wording of execution-apis, with the reason if there is one. */
export function reverted(reason: string | undefined): string {
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}
