// Interface of what carries requests to a network: HTTP, or a provider of this process.
import { DevchainError } from '../../core/errors.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Json } from '../../rpc/schema.ts'

export interface UpstreamRequest {
  readonly method: string
  readonly params: readonly Json[]
}

/** @param mayPass true: an internal error of the server, which may pass */
export type UpstreamReply =
  | { readonly result: Json }
  | { readonly error: UpstreamError; readonly mayPass?: boolean }

export type UpstreamError = Omit<ErrorObject, 'solidityStack'>

export interface Provider {
  /** Without keys. */
  readonly name: string
  /** Requests of one `send`; 1 without batches. */
  readonly mostAtOnce: number
  /**
   * @returns a reply for each request, in order
   * @throws {ProviderFailure} if no request was answered
   */
  readonly send: (
    asks: readonly UpstreamRequest[],
    timeoutMs: number,
  ) => Promise<readonly UpstreamReply[]>
  readonly close?: () => void
}

/**
 * Why nothing was answered.
 *
 * `limited`: rate limit, retry later. `refused`: it does not accept this batch. `broken`: unreachable, or not a
 * JSON-RPC answer. `final`: no retry helps. `pruned`: it no longer keeps the state.
 */
export type FailureKind = 'limited' | 'refused' | 'broken' | 'final' | 'pruned'

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: FailureKind
  /** Milliseconds, if the server names a wait. */
  readonly retryAfterMs: number | undefined

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

/** A reply that does not answer the request: null, or something else. */
export class NoAnswer extends DevchainError {
  constructor(message: string) {
    super('UPSTREAM_FAILED', message)
  }
}

/** Null where something must be: the node lags behind. */
export class NullAnswer extends NoAnswer {}

/** JSON-RPC codes of a method that does not exist or is not allowed. */
const UNKNOWN_METHOD = new Set([-32601, -32004, -32600])

const UNKNOWN_WORDS =
  /method.*(not (found|supported|available|allowed|exist|whitelisted|enabled)|unsupported|disabled)|does not exist|not supported|unknown method/i

export function isMethodNotFound({ code, message }: UpstreamError): boolean {
  return UNKNOWN_METHOD.has(code) || UNKNOWN_WORDS.test(message)
}

/** JSON-RPC codes of rate limits: Infura, Alchemy, QuickNode. */
const LIMIT_CODES = new Set([-32005, -32007, -32016, 429])

const LIMIT_WORDS =
  /rate.?limit|too many requests|request limit|requests? per second|limited to [\d,]+ ?\/ ?s|compute units|capacity|throttl|quota|exceeded.*limit.*(second|minute|day)/i

/** Words of size limits, such as a range that is too wide: retrying does not help. */
const SIZE_WORDS = /range|results?\b|size\b|logs|blocks\b/i

export function isLimitError({ code, message }: UpstreamError): boolean {
  // a plan without archive data says so in the words of a limit
  if (PRUNED_WORDS.test(message)) return false
  if (LIMIT_WORDS.test(message)) return true
  return LIMIT_CODES.has(code) && !SIZE_WORDS.test(message)
}

/**
 * @see https://github.com/ethereum/go-ethereum/blob/master/trie/errors.go and state/database.go, paradigmxyz/reth
 * crates/rpc/rpc-eth-types/src/error, erigontech/erigon db/state (PrunedError), NethermindEth/nethermind
 * (GetStateFailureResult), and the errors of Infura, Alchemy, publicnode, Chainstack
 */
const PRUNED_WORDS =
  /missing trie node|(historical|old|required) .*(state|data|history).*(unavailable|not available|not found|pruned|pruning|is not)|state already discarded|state histor(y|ies) ha(s|ve)n't been fully indexed|state (0x\w+ |at block \S+ )?(is )?(unavailable|not available|(already )?pruned)|no state available|pruned (history|state)|(due to|been) prun|proof window|archive (requests?|state|data|node)|no historical rpc/i

/** Another node may have the state. */
export function isPrunedError({ message }: UpstreamError): boolean {
  return PRUNED_WORDS.test(message)
}

/** Words of geth, reth, nethermind, besu and anvil for a block that a node behind the others does not have yet. */
const UNKNOWN_BLOCK = /(header|block)( for hash)? not found|unknown block|BlockOutOfRange/i

export function isBlockUnknown({ message }: UpstreamError): boolean {
  return UNKNOWN_BLOCK.test(message)
}
