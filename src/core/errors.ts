// The one error class of devchain: a word for the kind, a message for people, facts for programs.

/** Why devchain refused something. `rpc/errors.ts` maps each word to a JSON-RPC code; a missing row does not compile. */
export type ErrorWord =
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'METHOD_NOT_SUPPORTED'
  | 'INVALID_PARAMS'
  | 'LIMIT_EXCEEDED'
  // a named thing does not exist or may not be used
  | 'NOT_FOUND'
  | 'UNKNOWN_ACCOUNT'
  | 'ACCOUNT_LOCKED'
  | 'WRONG_PASSPHRASE'
  | 'NONCE_TOO_LOW'
  | 'NONCE_TOO_HIGH'
  | 'ALREADY_KNOWN'
  | 'REPLACEMENT_UNDERPRICED'
  | 'TRANSACTION_UNDERPRICED'
  | 'INSUFFICIENT_FUNDS'
  | 'INTRINSIC_GAS_TOO_LOW'
  | 'GAS_BELOW_FLOOR'
  | 'EXCEEDS_BLOCK_GAS_LIMIT'
  | 'GAS_LIMIT_TOO_HIGH'
  | 'FEE_CAP_TOO_LOW'
  | 'TIP_ABOVE_FEE_CAP'
  | 'WRONG_CHAIN_ID'
  | 'INVALID_SIGNATURE'
  | 'INVALID_SENDER'
  | 'TYPE_NOT_SUPPORTED'
  | 'INIT_CODE_TOO_LARGE'
  | 'EMPTY_AUTHORIZATION_LIST'
  | 'INVALID_BLOBS'
  | 'BLOB_FEE_CAP_TOO_LOW'
  | 'POOL_FULL'
  | 'CONDITIONS_NOT_MET'
  // batches of calls (EIP-5792) and permissions (EIP-1193)
  | 'UNAUTHORIZED'
  | 'UNSUPPORTED_CAPABILITY'
  | 'UNSUPPORTED_CHAIN'
  | 'DUPLICATE_BATCH'
  | 'UNKNOWN_BATCH'
  | 'BATCH_TOO_LARGE'
  | 'ATOMICITY_NOT_SUPPORTED'
  // eth_sendRawTransactionSync timed out
  | 'NOT_MINED_IN_TIME'
  | 'INVALID_BLOCK'
  // an invalid proof of merged mining
  | 'WORK_REJECTED'
  // eth_simulateV1: order, overrides, calls that exceed a block
  | 'BLOCK_NUMBER_NOT_INCREASING'
  | 'BLOCK_TIMESTAMP_NOT_INCREASING'
  | 'PRECOMPILE_MOVED_TO_ITSELF'
  | 'PRECOMPILES_MOVED_TOGETHER'
  | 'TOO_MANY_BLOCKS'
  | 'SIMULATED_NONCE_TOO_LOW'
  | 'SIMULATED_NONCE_TOO_HIGH'
  | 'SIMULATED_FEE_CAP_TOO_LOW'
  | 'SIMULATED_INTRINSIC_GAS_TOO_LOW'
  | 'SIMULATED_INSUFFICIENT_FUNDS'
  | 'SIMULATED_BLOCK_GAS_EXCEEDED'
  | 'SIMULATED_INIT_CODE_TOO_LARGE'
  // linked peers would undo the change at once
  | 'LINKED'
  // a fork lacks upstream state, or cannot get it
  | 'MISSING_STATE'
  | 'UPSTREAM_FAILED'
  // the client disconnected or the chain was closed
  | 'CANCELLED'
  // execution reverted or halted; `data` holds the raw return bytes
  | 'EXECUTION_REVERTED'
  | 'EXECUTION_HALTED'

/** Why a file could not be read. */
export function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : message
}

/** The numbers and addresses in a message, so that callers can rephrase it. They are not sent. */
export type ErrorFacts = Readonly<Record<string, bigint | number | string>>

/** An error that the caller gets to see. Any other exception is a bug in devchain. */
export class DevchainError extends Error {
  override readonly name = 'DevchainError'
  readonly word: ErrorWord
  /** Facts for programs: hex strings and plain JSON, depending on `word`. */
  readonly data: unknown
  readonly facts: ErrorFacts

  constructor(word: ErrorWord, message: string, data?: unknown, facts: ErrorFacts = {}) {
    super(message)
    this.word = word
    this.data = data
    this.facts = facts
  }
}

/** True for errors that do not depend on the work itself: cancellation, or an upstream RPC that fails. */
export function isInterruption(error: unknown): boolean {
  return error instanceof DevchainError && INTERRUPTIONS.has(error.word)
}

const INTERRUPTIONS: ReadonlySet<ErrorWord> = new Set<ErrorWord>([
  'CANCELLED',
  'MISSING_STATE',
  'UPSTREAM_FAILED',
])

/** A failed execution, with its console output if no transaction reports that. */
export class ExecutionError extends DevchainError {
  readonly printed: readonly string[]

  constructor(
    word: ErrorWord,
    message: string,
    data: unknown,
    printed: readonly string[],
    facts?: ErrorFacts,
  ) {
    super(word, message, data, facts)
    this.printed = printed
  }
}

/** Shortens a caller's value for a message: at most 100 characters, one line, no API keys of URLs. */
export function printValue(value: unknown): string {
  const text = typeof value === 'bigint' ? value.toString() : (jsonOf(value) ?? lineOf(value))
  const shown = withoutKeys(text.slice(0, MOST_READ))
  return shown.length > 100 ? `${shown.slice(0, 97)}...` : shown
}

const MOST_READ = 1_000

/** RPC URLs contain keys: as user info, in the path, or as a parameter of 16 characters or more. */
function withoutKeys(text: string): string {
  if (!text.includes('://')) return text
  return text.replace(
    /((?:http|ws)s?:\/\/)([^\s"/?#]*@)?([^\s"/?#]*)([^\s"]*)/g,
    (_, scheme, user, host, more) => {
      const shown = String(more).replace(/[\w-]{16,}/g, '…')
      return `${scheme}${user === undefined ? '' : '…@'}${host}${shown}`
    },
  )
}

/** Undefined for what JSON cannot express. Callers in the process may pass bigints and cycles. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    )
  } catch {
    return undefined
  }
}

function lineOf(value: unknown): string {
  const text = typeof value === 'object' ? Object.prototype.toString.call(value) : String(value)
  return text.replace(/\s+/g, ' ')
}
