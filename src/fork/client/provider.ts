// Who carries requests to another network: by HTTP, or as a provider of this process.
import type { Json } from '../../rpc/schema.ts'

/** A request to another network. */
export interface Ask {
  readonly method: string
  readonly params: readonly Json[]
}

/** What came of one request. */
export type Reply = { readonly result: Json } | { readonly error: UpstreamError }

/** The words of another network, as it sent them. */
export interface UpstreamError {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** Carries requests. */
export interface Provider {
  /** Names it in logs and errors, without keys. */
  readonly name: string
  /** Most requests of one `send`; 1 where it knows no batches. */
  readonly mostAtOnce: number
  /**
   * Sends requests together.
   * @returns a reply for each, in their order
   * @throws {ProviderFailure} when none of them was answered
   */
  readonly send: (asks: readonly Ask[], timeoutMs: number) => Promise<readonly Reply[]>
  /** Cuts what connections it keeps. */
  readonly close?: () => void
}

/**
 * Why nothing was answered.
 *
 * `limited`: it wants to be asked later. `refused`: it does not take the requests together. `broken`: it cannot be reached, or
 * answers something else.
 */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: 'limited' | 'refused' | 'broken'
  /** Milliseconds to wait, where it says so. */
  readonly retryAfterMs: number | undefined

  constructor(kind: ProviderFailure['kind'], message: string, retryAfterMs?: number) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

/** JSON-RPC numbers by which services say that they were asked too much: Infura, Alchemy, QuickNode. */
const LIMIT_CODES = new Set([-32005, -32007, -32016, 429])

const LIMIT_WORDS =
  /rate.?limit|too many requests|request limit|requests? per second|compute units|capacity|throttl|quota|exceeded.*limit.*(second|minute|day)/i

/** Bounds of an answer, which asking again does not lift: a range that is too wide. */
const SIZE_WORDS = /block range|range|results?\b|response size|logs/i

/** True for the error of a service that wants to be asked later. */
export function isLimitError({ code, message }: UpstreamError): boolean {
  if (LIMIT_WORDS.test(message)) return true
  return LIMIT_CODES.has(code) && !SIZE_WORDS.test(message)
}
