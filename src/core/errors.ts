// The one error class of the product: a word for the kind, a sentence for people, facts for programs.

/**
 * Why something was refused. `rpc/errors.ts` gives each word its JSON-RPC number; a word without a row there
 * does not compile.
 */
export type ErrorWord =
  // the request
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'METHOD_NOT_SUPPORTED'
  | 'INVALID_PARAMS'
  | 'LIMIT_EXCEEDED'
  // what the caller names does not exist, or may not be used
  | 'NOT_FOUND'
  | 'UNKNOWN_ACCOUNT'
  | 'ACCOUNT_LOCKED'
  | 'WRONG_PASSPHRASE'
  // a transaction that the pool refuses
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
  // a batch of calls (EIP-5792), and who may send for whom (EIP-1193)
  | 'UNAUTHORIZED'
  | 'UNSUPPORTED_CAPABILITY'
  | 'UNSUPPORTED_CHAIN'
  | 'DUPLICATE_BATCH'
  | 'UNKNOWN_BATCH'
  | 'BATCH_TOO_LARGE'
  | 'ATOMICITY_NOT_SUPPORTED'
  // a transaction that waits longer than its sender
  | 'NOT_MINED_IN_TIME'
  // a block of an import that breaks a rule
  | 'INVALID_BLOCK'
  // a proof of merged mining that does not hold
  | 'WORK_REJECTED'
  // a simulation of blocks: its order, its overrides, and calls that no block could hold
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
  // what linked peers would undo at once
  | 'LINKED'
  // another network that this chain was forked from: something of it is not here yet, or cannot be had
  | 'MISSING_STATE'
  | 'UPSTREAM_FAILED'
  // an execution whose caller hung up, or whose chain was closed
  | 'ABANDONED'
  // an execution that reverted or halted; `data` holds the raw return bytes
  | 'EXECUTION_REVERTED'
  | 'EXECUTION_HALTED'

/** The numbers and addresses of a message, for who words it anew. They are not sent. */
export type ErrorFacts = Readonly<Record<string, bigint | number | string>>

/** An error that the caller is told about. Anything else that is thrown is a bug in devchain. */
export class DevchainError extends Error {
  override readonly name = 'DevchainError'
  readonly word: ErrorWord
  /** Facts for programs; what it holds depends on `word`. Hex strings and plain JSON only. */
  readonly data: unknown
  readonly facts: ErrorFacts

  constructor(word: ErrorWord, message: string, data?: unknown, facts: ErrorFacts = {}) {
    super(message)
    this.word = word
    this.data = data
    this.facts = facts
  }
}

/** True for what ends work whoever asked for it: nobody waits for it, or the network of a fork cannot be had. */
export function isInterruption(error: unknown): boolean {
  return error instanceof DevchainError && INTERRUPTIONS.has(error.word)
}

const INTERRUPTIONS: ReadonlySet<ErrorWord> = new Set<ErrorWord>([
  'ABANDONED',
  'MISSING_STATE',
  'UPSTREAM_FAILED',
])

/** An execution that came to nothing, with what contracts printed before, where no transaction tells of it. */
export class ExecutionError extends DevchainError {
  /** Oldest first. */
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

/** Shortens a value of the caller's for use in a message: 100 characters at most, always one line, and no key of a URL. */
export function printValue(value: unknown): string {
  const text = typeof value === 'bigint' ? value.toString() : (jsonOf(value) ?? lineOf(value))
  const shown = withoutKeys(text.slice(0, MOST_READ))
  return shown.length > 100 ? `${shown.slice(0, 97)}...` : shown
}

/** Characters of a value that are read: more than are shown. */
const MOST_READ = 1_000

/** URLs of nodes have keys in them: as a user, in the path, or as a parameter, of sixteen characters and more. */
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

/** JSON of a value; undefined for what has none. Callers within the process may pass bigints and cycles. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    )
  } catch {
    // it contains itself: its kind is all that can be said in a line
    return undefined
  }
}

function lineOf(value: unknown): string {
  const text = typeof value === 'object' ? Object.prototype.toString.call(value) : String(value)
  return text.replace(/\s+/g, ' ')
}
