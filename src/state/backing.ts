// What lies below a trie of which only a part is here: a fork's accounts and slots that another network has.
import type { Address } from '../core/hex.ts'
import type { SparseTrie } from './sparsetrie.ts'
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
  /** The root of the trie with changes over these keys where there are no nodes of it: 32 bytes. */
  readonly root: (changes: BackedChanges<V>) => Uint8Array
  /** Its nodes, as far as they are known; undefined where there are no proofs of them. */
  readonly nodes?: BackingNodes<V> | undefined
}

/** The nodes of a trie of which only a part is here. */
export interface BackingNodes<V> {
  /** As the network has it. */
  readonly untouched: SparseTrie
  /** With what is otherwise here from the beginning on: it comes in with the first change. */
  readonly begun: SparseTrie
  /**
   * Asks for the nodes on the way to a key.
   * @throws {MissingState} when they are not known yet
   */
  readonly require: (name: Address | bigint) => void
  /** What the key of a value is the hash of. */
  readonly nameOf: (value: V) => Address | bigint
  /** Undefined where they are true; else why they are not. */
  readonly whyUnknown: () => string | undefined
}

export interface BackedChanges<V> {
  /** The root node of the keys that were set; undefined when there are none. */
  readonly set: Node<V> | undefined
  /** The root of these keys alone: 32 bytes. */
  readonly setRoot: () => Uint8Array
  readonly gone: Iterable<Uint8Array>
}
