// What lies below a trie of which only a part is here: a fork's accounts and slots that another network has.
import { DevchainError } from '../core/errors.ts'
import type { Address, Hash } from '../core/hex.ts'
import type { Node } from './trienode.ts'

/**
 * The keys that a trie has besides those that were changed here. They are another network's, and never change; which of
 * them are known does.
 */
export interface Backing<V> {
  /**
   * The value of a key; undefined where there is none.
   * @param name what the key is the hash of: an address or a slot
   * @throws {MissingState} when it is not known yet
   */
  readonly get: (key: Uint8Array, name: Address | bigint | undefined) => V | undefined
  /** True when `get` answers at once. */
  readonly knows: (key: Uint8Array, name: Address | bigint | undefined) => boolean
  /** Keys and values that are known, in any order. */
  readonly known: () => Iterable<readonly [Uint8Array, V]>
  /** The root of the trie with changes over these keys: 32 bytes. */
  readonly root: (changes: BackedChanges<V>) => Uint8Array
}

/** What was changed over a backing. */
export interface BackedChanges<V> {
  /** The root node of the keys that were set; undefined when there are none. */
  readonly set: Node<V> | undefined
  /** The root of these keys alone: 32 bytes. */
  readonly setRoot: () => Uint8Array
  /** Keys that were taken away. */
  readonly gone: Iterable<Uint8Array>
}

/** Something of another network that a run, a command or a read needs. */
export type Miss =
  | { readonly kind: 'account'; readonly address: Address }
  | { readonly kind: 'nonce'; readonly address: Address }
  | { readonly kind: 'slot'; readonly address: Address; readonly slot: bigint }
  | { readonly kind: 'header'; readonly number: bigint }
  | { readonly kind: 'block'; readonly hash: Hash }

/** Who can fetch what is missing. Two misses of one source may be fetched together. */
export interface MissSource {
  /** @throws {DevchainError} `UPSTREAM_FAILED` when it cannot be had */
  readonly fetch: (misses: readonly Miss[]) => Promise<void>
}

/** What is asked for is another network's, and has not been fetched yet. Whoever can wait fetches it and begins anew. */
export class MissingState extends DevchainError {
  readonly miss: Miss
  readonly source: MissSource

  constructor(miss: Miss, source: MissSource) {
    super('MISSING_STATE', `not known here yet: ${printMiss(miss)}`)
    this.miss = miss
    this.source = source
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
    case 'header':
      return `block ${miss.number}`
    case 'block':
      return `block ${miss.hash}`
  }
}
