// Maps error words of the domain to JSON-RPC error codes.
import { DevchainError, type ErrorWord } from '../core/errors.ts'
import type { Json } from './schema.ts'

/** A word without a row does not compile. */
const CODES: Readonly<Record<ErrorWord, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  METHOD_NOT_SUPPORTED: -32004,
  LIMIT_EXCEEDED: -32005,
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
  // EIP-1193
  UNAUTHORIZED: 4100,
  // EIP-5792
  UNSUPPORTED_CAPABILITY: 5700,
  UNSUPPORTED_CHAIN: 5710,
  DUPLICATE_BATCH: 5720,
  UNKNOWN_BATCH: 5730,
  BATCH_TOO_LARGE: 5740,
  ATOMICITY_NOT_SUPPORTED: 5760,
  // EIP-7966
  NOT_MINED_IN_TIME: 4,
  INVALID_BLOCK: -32003,
  WORK_REJECTED: -33000,
  // numbered as in execution-apis for eth_simulateV1
  SIMULATED_NONCE_TOO_LOW: -38010,
  SIMULATED_NONCE_TOO_HIGH: -38011,
  SIMULATED_FEE_CAP_TOO_LOW: -38012,
  SIMULATED_INTRINSIC_GAS_TOO_LOW: -38013,
  SIMULATED_INSUFFICIENT_FUNDS: -38014,
  SIMULATED_BLOCK_GAS_EXCEEDED: -38015,
  BLOCK_NUMBER_NOT_INCREASING: -38020,
  BLOCK_TIMESTAMP_NOT_INCREASING: -38021,
  PRECOMPILE_MOVED_TO_ITSELF: -38022,
  PRECOMPILES_MOVED_TOGETHER: -38023,
  SIMULATED_INIT_CODE_TOO_LARGE: -38025,
  TOO_MANY_BLOCKS: -38026,
  LINKED: -32000,
  MISSING_STATE: -32000,
  UPSTREAM_FAILED: -32000,
  CANCELLED: -32000,
  EXECUTION_REVERTED: -32015,
  EXECUTION_HALTED: -32015,
}

export function errorCode(word: ErrorWord): number {
  return CODES[word]
}

const INTERNAL_ERROR = -32603

export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: Json
  /** Cause and location in the user's source, one line each; non-standard, so clients ignore it. */
  readonly solidityStack?: readonly string[]
}

/** What the in-process `request` rejects with (EIP-1193, ProviderRpcError). */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: Json | undefined
  readonly solidityStack: readonly string[] | undefined

  constructor({ code, message, data, solidityStack }: ErrorObject) {
    super(message)
    this.code = code
    this.data = data
    this.solidityStack = solidityStack
  }
}

/** The error for the caller. A bug becomes "internal error"; `onBug` gets the original. */
export function errorObjectOf(error: unknown, onBug: (error: unknown) => void): ErrorObject {
  if (!(error instanceof DevchainError)) {
    onBug(error)
    return {
      code: INTERNAL_ERROR,
      message: 'internal error: a bug in devchain; its log has the details',
    }
  }
  const { word, message, data } = error
  return data === undefined
    ? { code: CODES[word], message }
    : { code: CODES[word], message, data: data as Json }
}
