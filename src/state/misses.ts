// Describes upstream state that a fork lacks, and how to fetch it.
import { DevchainError } from '../core/errors.ts'
import type { Address, Hash } from '../core/hex.ts'

export type Miss =
  | { readonly kind: 'account'; readonly address: Address }
  | { readonly kind: 'nonce'; readonly address: Address }
  | { readonly kind: 'slot'; readonly address: Address; readonly slot: bigint }
  | NodeMiss
  | { readonly kind: 'header'; readonly number: bigint }
  | { readonly kind: 'body'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly number: bigint }
  | { readonly kind: 'block'; readonly hash: Hash }

/** A trie node, identified by the nibbles above it. */
export interface NodeMiss {
  readonly kind: 'node'
  readonly owner: Address | undefined
  readonly prefix: string
}

/** Fetches missing state. Two misses of one source may be fetched together. */
export interface MissSource {
  /** @throws {DevchainError} `UPSTREAM_FAILED` if it cannot be fetched */
  readonly fetch: (misses: readonly Miss[]) => Promise<void>
  /** True if it needs no network request. Default: never. */
  readonly isKept?: (miss: Miss) => boolean
}

/** Thrown when a run needs upstream state. Asynchronous callers fetch it and retry. */
export class MissingState extends DevchainError {
  readonly miss: Miss
  readonly source: MissSource
  readonly others: readonly MissingState[]

  constructor(miss: Miss, source: MissSource, others: readonly MissingState[] = []) {
    super('MISSING_STATE', `not known here yet: ${printMiss(miss)}`)
    this.miss = miss
    this.source = source
    this.others = others
  }
}

/** For messages; also the key among misses of one source. */
export function printMiss(miss: Miss): string {
  switch (miss.kind) {
    case 'account':
      return `account ${miss.address}`
    case 'nonce':
      return `nonce of ${miss.address}`
    case 'slot':
      return `slot 0x${miss.slot.toString(16)} of ${miss.address}`
    case 'node':
      return `node ${miss.prefix} of ${miss.owner === undefined ? 'the state' : `the storage of ${miss.owner}`}`
    case 'header':
      return `block ${miss.number}`
    case 'body':
      return `transactions of block ${miss.number}`
    case 'hash':
      return `hash of block ${miss.number}`
    case 'block':
      return `block ${miss.hash}`
  }
}
