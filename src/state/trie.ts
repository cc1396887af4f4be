// A persistent Merkle-Patricia trie: immutable, each node remembers its hash, hashed when first asked.

/** To be written. */
export class Trie<V> {
  declare private readonly value: V
}
