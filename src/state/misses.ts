// What of another network is not known yet, and who can fetch it.
import { DevchainError } from '../core/errors.ts'
import type { Address, Hash } from '../core/hex.ts'

/** Something of another network that a run, a command or a read needs. */
export type Miss =
  | { readonly kind: 'account'; readonly address: Address }
  | { readonly kind: 'nonce'; readonly address: Address }
  | { readonly kind: 'slot'; readonly address: Address; readonly slot: bigint }
  | NodeMiss
  | { readonly kind: 'header'; readonly number: bigint }
  | { readonly kind: 'body'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly number: bigint }
  | { readonly kind: 'block'; readonly hash: Hash }

/** A node of the state trie, or of the storage of an account, by the nibbles above it. */
export interface NodeMiss {
  readonly kind: 'node'
  readonly owner: Address | undefined
  /** Hexadecimal digits. */
  readonly prefix: string
}

/** Who can fetch what is missing. Two misses of one source may be fetched together. */
export interface MissSource {
  /** @throws {DevchainError} `UPSTREAM_FAILED` when it cannot be had */
  readonly fetch: (misses: readonly Miss[]) => Promise<void>
  /** True for what it fetches without asking the network. Without it, that is nothing. */
  readonly isKept?: (miss: Miss) => boolean
}

/** What is asked for is another network's, and has not been fetched yet. Whoever can wait fetches it and begins anew. */
export class MissingState extends DevchainError {
  readonly miss: Miss
  readonly source: MissSource
  /** What is known to be missing besides. */
  readonly others: readonly MissingState[]

  constructor(miss: Miss, source: MissSource, others: readonly MissingState[] = []) {
    super('MISSING_STATE', `not known here yet: ${printMiss(miss)}`)
    this.miss = miss
    this.source = source
    this.others = others
  }
}

/** A miss in words, which is also its key among others of its source. */
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
