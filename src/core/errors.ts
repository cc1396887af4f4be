// The one error class of devchain: a word for the kind, a message for people, facts for programs.

/** Why devchain refused something: a word for the program, and its JSON-RPC code, which only `rpc/` and above read. */
export const ERROR_CODES = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  METHOD_NOT_SUPPORTED: -32004,
  INVALID_PARAMS: -32602,
  LIMIT_EXCEEDED: -32005,
  // a named thing does not exist or may not be used
  NOT_FOUND: -32001,
  UNKNOWN_ACCOUNT: -32602,
  ACCOUNT_LOCKED: -32602,
  WRONG_PASSPHRASE: -32602,
  NONCE_TOO_LOW: -32003,
  NONCE_TOO_HIGH: -32003,
  ALREADY_KNOWN: -32003,
  REPLACEMENT_UNDERPRICED: -32003,
  TRANSACTION_UNDERPRICED: -32003,
  INSUFFICIENT_FUNDS: -32003,
  INTRINSIC_GAS_TOO_LOW: -32003,
  GAS_BELOW_FLOOR: -32003,
  EXCEEDS_BLOCK_GAS_LIMIT: -32003,
  GAS_LIMIT_TOO_HIGH: -32003,
  FEE_CAP_TOO_LOW: -32003,
  TIP_ABOVE_FEE_CAP: -32003,
  WRONG_CHAIN_ID: -32003,
  INVALID_SIGNATURE: -32003,
  INVALID_SENDER: -32003,
  TYPE_NOT_SUPPORTED: -32003,
  INIT_CODE_TOO_LARGE: -32003,
  EMPTY_AUTHORIZATION_LIST: -32003,
  INVALID_BLOBS: -32003,
  BLOB_FEE_CAP_TOO_LOW: -32003,
  POOL_FULL: -32003,
  CONDITIONS_NOT_MET: -32003,
  // permissions (EIP-1193) and batches of calls (EIP-5792)
  UNAUTHORIZED: 4100,
  UNSUPPORTED_CAPABILITY: 5700,
  UNSUPPORTED_CHAIN: 5710,
  DUPLICATE_BATCH: 5720,
  UNKNOWN_BATCH: 5730,
  BATCH_TOO_LARGE: 5740,
  ATOMICITY_NOT_SUPPORTED: 5760,
  // eth_sendRawTransactionSync timed out (EIP-7966)
  NOT_MINED_IN_TIME: 4,
  INVALID_BLOCK: -32003,
  // an invalid proof of merged mining
  WORK_REJECTED: -33000,
  // eth_simulateV1, numbered as in execution-apis: order, overrides, calls that exceed a block
  BLOCK_NUMBER_NOT_INCREASING: -38020,
  BLOCK_TIMESTAMP_NOT_INCREASING: -38021,
  PRECOMPILE_MOVED_TO_ITSELF: -38022,
  PRECOMPILES_MOVED_TOGETHER: -38023,
  TOO_MANY_BLOCKS: -38026,
  SIMULATED_NONCE_TOO_LOW: -38010,
  SIMULATED_NONCE_TOO_HIGH: -38011,
  SIMULATED_FEE_CAP_TOO_LOW: -38012,
  SIMULATED_INTRINSIC_GAS_TOO_LOW: -38013,
  SIMULATED_INSUFFICIENT_FUNDS: -38014,
  SIMULATED_BLOCK_GAS_EXCEEDED: -38015,
  SIMULATED_INIT_CODE_TOO_LARGE: -38025,
  // linked peers would undo the change at once
  LINKED: -32000,
  // a fork lacks upstream state, or cannot get it
  MISSING_STATE: -32000,
  UPSTREAM_FAILED: -32000,
  // bytes of a chain on disk are not what was written
  DAMAGED: -32000,
  // the client disconnected or the chain was closed
  CANCELLED: -32000,
  // execution reverted or halted; `data` holds the raw return bytes
  EXECUTION_REVERTED: -32015,
  EXECUTION_HALTED: -32015,
} as const

export type ErrorWord = keyof typeof ERROR_CODES

/** Why a file could not be read. */
export function readFailure(error: unknown): string {
  const { code, message } = error as Error & { readonly code?: string }
  return code === 'ENOENT' ? 'there is no such file' : (folderFailure(code) ?? message)
}

/** What some work returns; undefined if it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** What some work returns, or `refused` if it is refused (by default undefined). Any other error is a bug, and is thrown. */
export function unlessRefused<T>(work: () => T): T | undefined
export function unlessRefused<T, R>(work: () => T, refused: (error: DevchainError) => R): T | R
export function unlessRefused<T, R>(
  work: () => T,
  refused?: (error: DevchainError) => R,
): T | R | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof DevchainError) return refused?.(error)
    throw error
  }
}

/** What some work returns. Its refusals begin with where they are, and have no data. */
export function within<T>(where: string, work: () => T): T {
  return unlessRefused(work, ({ word, message }) => {
    throw new DevchainError(word, `${where}: ${message}`)
  })
}

/** The system's reason without the call and its paths, one of which may be a temporary file. */
export function writeFailure(error: unknown): string {
  const { code, message } = error as Error & { readonly code?: string }
  return folderFailure(code) ?? message.split(', ', 1)[0]!
}

function folderFailure(code: string | undefined): string | undefined {
  return code === 'EISDIR' ? 'it is a folder' : undefined
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

/** An error without data, whose facts let callers rephrase it. */
export function refusal(word: ErrorWord, message: string, facts: ErrorFacts): DevchainError {
  return new DevchainError(word, message, undefined, facts)
}

/** A refusal of what the caller gave. */
export function invalidParams(message: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', message)
}

/** A refusal of more than devchain holds or does at once. */
export function limitExceeded(message: string): DevchainError {
  return new DevchainError('LIMIT_EXCEEDED', message)
}

/** @param path of the value in what the caller gave */
export function invalid(path: string, expected: string, value: unknown): DevchainError {
  return invalidParams(`${path}: expected ${expected}, got ${printValue(value)}`)
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
    (_, scheme, user, host, more: string) =>
      `${scheme}${user === undefined ? '' : '…@'}${host}${more.replace(/[\w-]{16,}/g, '…')}`,
  )
}

/** Undefined for what JSON cannot express. Callers in the process may pass bigints and cycles. */
function jsonOf(value: unknown): string | undefined {
  return attempt(() =>
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    ),
  )
}

function lineOf(value: unknown): string {
  const text = typeof value === 'object' ? Object.prototype.toString.call(value) : String(value)
  return text.replace(/\s+/g, ' ')
}
