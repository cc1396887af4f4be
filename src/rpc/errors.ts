// Errors as clients get them.
import { DevchainError, ERROR_CODES } from '../core/errors.ts'
import type { Json } from './schema.ts'

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
  const code = ERROR_CODES[word]
  return data === undefined ? { code, message } : { code, message, data: data as Json }
}
