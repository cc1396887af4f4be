// Encodes calls for subscribers of `calls`.
import type { CallDetails, CallReport } from '../../rpc/report.ts'
import type { Json } from '../../rpc/schema.ts'

/** Characters of a text, and items of a list, before shortening. */
const TEXT = 400
const LISTED = 40

/** A call by the names of the project: `Vault.withdraw(5 ether)`, `InsufficientBalance(have 1 ether, want 5 ether)`. */
export interface CallWords {
  readonly call?: string | undefined
  readonly error?: string | undefined
}

export function callNews(
  { method, params, durationMs, result, error }: CallReport,
  { description }: Pick<CallDetails<never>, 'description'>,
  words: CallWords,
  console: readonly string[],
): Json {
  return {
    method,
    params: shortened(params),
    durationMs: Math.round(durationMs * 1000) / 1000,
    result: result === undefined ? null : shortened(result),
    error: error ? { code: error.code, message: shortened(words.error ?? error.message) } : null,
    text: shortened(words.call ?? description ?? null),
    console: shortened(console),
  }
}

/** Code and traces are long, and a log shows their begin. */
function shortened(value: Json): Json {
  if (typeof value === 'string' && value.length > TEXT) return `${value.slice(0, TEXT)}…`
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).slice(0, LISTED).map(shortened)
  const members = Object.entries(value as Readonly<Record<string, Json>>).slice(0, LISTED)
  return Object.fromEntries(members.map(([name, each]) => [name, shortened(each)]))
}
