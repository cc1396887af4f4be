// The interface to the upstream part of a fork's tries.
import type { Address } from '../core/hex.ts'
import type { SparseTrie } from './sparsetrie.ts'

/** The upstream keys of a trie, besides those changed here. They never change, but more of them become known. */
export interface Backing<V> {
  readonly source: BackingSource
  /**
   * Undefined if the key does not exist.
   * @param name the preimage of the key: an address or a slot
   * @throws {MissingState} if it is not known yet
   */
  readonly get: (key: Uint8Array, name: Address | bigint | undefined) => V | undefined
  readonly knows: (key: Uint8Array, name: Address | bigint | undefined) => boolean
  readonly known: () => Iterable<readonly [Uint8Array, V]>
  /**
   * The 32-byte root, for a trie without nodes.
   * @param changed that of the changed keys alone; undefined before any change
   */
  readonly root: (changed: (() => Uint8Array) | undefined) => Uint8Array
  /** The known nodes; undefined without proofs. */
  readonly nodes?: BackingNodes<V> | undefined
}

/** What a store keeps in place of the functions. */
export interface BackingSource {
  readonly state: BackedState
  /** Of a storage trie; undefined for the trie of accounts. */
  readonly address?: Address | undefined
}

/** The upstream state at a block. */
export interface BackedState {
  /** The name of its fork. */
  readonly fork: string
  /** What `ForkBase.stateOf` makes it from: a plain value. */
  readonly source: unknown
}

export interface BackingNodes<V> {
  /** As upstream has it. */
  readonly untouched: SparseTrie
  /** With the changes that the fork starts with, which the first change applies. */
  readonly begun: SparseTrie
  /** @throws {MissingState} if the nodes on the path to the key are not known yet */
  readonly require: (name: Address | bigint) => void
  readonly nameOf: (value: V) => Address | bigint
  readonly whyUnknown: () => string | undefined
}
