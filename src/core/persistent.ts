// Persistent collections: a change gives a new value in O(log n) and shares the rest with the old one.

/** An immutable map with text keys (hashes, addresses). */
export interface PersistentMap<K extends string, V> {
  readonly size: number
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): PersistentMap<K, V>
  delete(key: K): PersistentMap<K, V>
  entries(): IterableIterator<readonly [K, V]>
}

/** An immutable list that grows and shrinks at its end. */
export interface PersistentList<V> {
  readonly length: number
  at(index: number): V | undefined
  push(value: V): PersistentList<V>
  /** The first `length` items. */
  truncate(length: number): PersistentList<V>
  values(from?: number): IterableIterator<V>
}

export function emptyMap<K extends string, V>(): PersistentMap<K, V> {
  throw new Error('to be written')
}

export function emptyList<V>(): PersistentList<V> {
  throw new Error('to be written')
}
