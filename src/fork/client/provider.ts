// Who carries requests to another network: by HTTP, or as a provider of this process.
import { DevchainError } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'

export interface Ask {
  readonly method: string
  readonly params: readonly Json[]
}

export type Reply = { readonly result: Json } | RefusedReply

interface RefusedReply {
  readonly error: UpstreamError
  /** True: it had trouble of its own, which may pass. */
  readonly mayPass?: boolean
}

export interface UpstreamError {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

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
  readonly close?: () => void
}

/**
 * Why nothing was answered.
 *
 * `limited`: it wants to be asked later. `refused`: it does not take the requests together. `broken`: it cannot be reached, or
 * answers something else. `final`: it will not answer however often it is asked. `pruned`: it does not keep what is asked for.
 */
export type FailureKind = 'limited' | 'refused' | 'broken' | 'final' | 'pruned'

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: FailureKind
  /** Milliseconds to wait, where it says so. */
  readonly retryAfterMs: number | undefined

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

/** What a network answers that is no answer to what was asked: nothing, or something else. */
export class NoAnswer extends DevchainError {
  constructor(message: string) {
    super('UPSTREAM_FAILED', message)
  }
}

/** JSON-RPC numbers of a method that is not there, or not for us. */
const UNKNOWN_METHOD = new Set([-32601, -32004, -32600])

const UNKNOWN_WORDS =
  /method.*(not (found|supported|available|allowed|exist|whitelisted|enabled)|unsupported|disabled)|does not exist|not supported|unknown method/i

/** True when a network says that it has no such method, or not for us. */
export function tellsOfNoMethod({ code, message }: UpstreamError): boolean {
  return UNKNOWN_METHOD.has(code) || UNKNOWN_WORDS.test(message)
}

/** JSON-RPC numbers by which services say that they were asked too much: Infura, Alchemy, QuickNode. */
const LIMIT_CODES = new Set([-32005, -32007, -32016, 429])

const LIMIT_WORDS =
  /rate.?limit|too many requests|request limit|requests? per second|limited to [\d,]+ ?\/ ?s|compute units|capacity|throttl|quota|exceeded.*limit.*(second|minute|day)/i

/** Bounds of an answer, which asking again does not lift: a range that is too wide. */
const SIZE_WORDS = /range|results?\b|size\b|logs|blocks\b/i

/** True for the error of a service that wants to be asked later. */
export function isLimitError({ code, message }: UpstreamError): boolean {
  // a plan without archive data says so in the words of a limit
  if (PRUNED_WORDS.test(message)) return false
  if (LIMIT_WORDS.test(message)) return true
  return LIMIT_CODES.has(code) && !SIZE_WORDS.test(message)
}

/**
 * Words by which nodes and services refuse a state that they do not keep.
 * @see https://github.com/ethereum/go-ethereum/blob/master/trie/errors.go and state/database.go, paradigmxyz/reth
 * crates/rpc/rpc-eth-types/src/error, erigontech/erigon db/state (PrunedError), NethermindEth/nethermind (GetStateFailureResult),
 * and those of Infura, Alchemy, publicnode, Chainstack
 */
const PRUNED_WORDS =
  /missing trie node|(historical|old|required) .*(state|data|history).*(unavailable|not available|not found|pruned|pruning|is not)|state already discarded|state histor(y|ies) ha(s|ve)n't been fully indexed|state (0x\w+ |at block \S+ )?(is )?(unavailable|not available|(already )?pruned)|no state available|pruned (history|state)|(due to|been) prun|proof window|archive (requests?|state|data|node)|no historical rpc/i

/** True for the error of a node that does not keep what is asked for: another may. */
export function tellsOfPruning({ message }: UpstreamError): boolean {
  return PRUNED_WORDS.test(message)
}
