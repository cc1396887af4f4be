// A persistent Merkle-Patricia trie with cached hashes.
import { DevchainError } from '../core/errors.ts'
import {
  type Address,
  bytesFromHex,
  type Hash,
  type Hex,
  hashFromBytes,
  hexFromBytes,
} from '../core/hex.ts'
import { emptyMap, type PersistentMap } from '../core/persistent.ts'
import { EMPTY_TRIE_ROOT } from '../protocol/blocks/orderedtrie.ts'
import { isShort } from '../protocol/trienodes.ts'
import type { Backing } from './backing.ts'
import { asItIs } from './sparse.ts'
import type { SparseChange, SparseTrie } from './sparsetrie.ts'
import { build, insert, remove } from './trieedit.ts'
import {
  EditToken,
  type EncodeValue,
  encodeNode,
  KEY_NIBBLES,
  referenceOf,
  rootBytesOf,
  type TrieNode,
  type WholeNode,
} from './trienode.ts'
import { findLeaf, pathTo, walk } from './triewalk.ts'

export interface TrieChange<V> {
  readonly key: Uint8Array
  readonly value: V | undefined
  /** The preimage of a deleted key, which a partial trie needs to request nodes. */
  readonly name?: Address | bigint
}

/**
 * An immutable map from 32-byte keys to values, with a root hash. A change costs O(log n) and shares other nodes with the old
 * trie. Keys must be hashes already, and must not change later.
 */
export class Trie<V> {
  readonly #root: TrieNode<V> | undefined
  readonly encodeValue: EncodeValue<V>
  /** The upstream keys of a fork; else undefined. */
  readonly #base: Base<V> | undefined

  private constructor(
    root: TrieNode<V> | undefined,
    encodeValue: EncodeValue<V>,
    base: Base<V> | undefined,
  ) {
    this.#root = root
    this.encodeValue = encodeValue
    this.#base = base
  }

  /** @param encodeValue gives the RLP of a value when its leaf is hashed */
  static of<V>(root: TrieNode<V> | undefined, encodeValue: EncodeValue<V>): Trie<V> {
    return new Trie<V>(root, encodeValue, undefined)
  }

  static backed<V>(encodeValue: EncodeValue<V>, backing: Backing<V>): Trie<V> {
    return new Trie<V>(undefined, encodeValue, { backing, gone: emptyMap(), nodes: undefined })
  }

  /** This trie, which is backed, with all changes that a store kept of one with the same backing. */
  changed({ set, gone }: Omit<BackedParts<V>, 'backing'>): Trie<V> {
    const base = this.#base
    if (base === undefined) throw new Error('only a backed trie has changes')
    if (set === undefined && gone.size === 0) return this
    const { backing } = base
    const changes = (): SparseChange[] => [
      ...[...walk(set, undefined, 0)].map(([key, value]) => this.#sparse({ key, value }, backing)),
      ...[...gone.entries()].map(([hex, named]) =>
        this.#sparse({ key: bytesFromHex(hex), value: undefined, ...named }, backing),
      ),
    ]
    const nodes = backing.nodes?.begun.with(changes)
    return new Trie(set, this.encodeValue, { backing, gone, nodes })
  }

  /** False for any backed trie, whose keys are not all known. */
  get isEmpty(): boolean {
    return this.#root === undefined && this.#base === undefined
  }

  /** True if some keys are upstream. */
  get isBacked(): boolean {
    return this.#base !== undefined
  }

  /** What a backed trie consists of; else undefined. */
  get backedParts(): BackedParts<V> | undefined {
    return this.#base && { ...this.#base, set: this.#root }
  }

  get rootHash(): Hash {
    return this.isEmpty ? EMPTY_TRIE_ROOT : hashFromBytes(this.rootBytes)
  }

  get rootBytes(): Uint8Array {
    const ownRoot = (): Uint8Array => rootBytesOf(this.#root, this.encodeValue)
    return this.#base === undefined ? ownRoot() : rootOver(this.#base, this.#root, ownRoot)
  }

  /**
   * Undefined without keys. Do not modify.
   * @throws {DevchainError} `METHOD_NOT_SUPPORTED` if a backing has the nodes
   */
  get root(): TrieNode<V> | undefined {
    if (this.#base !== undefined) throw noNodes('only a part of it is here')
    return this.#root
  }

  /**
   * @param name the preimage of the key, which a backing needs
   * @throws {MissingState} if a backing does not know the value yet
   */
  get(key: Uint8Array, name?: Address | bigint): V | undefined {
    const leaf = findLeaf(this.#root, key)
    if (leaf === undefined && this.#base !== undefined) return below(this.#base, key, name)
    return leaf?.value
  }

  /** True if `get` would not throw. */
  knows(key: Uint8Array, name?: Address | bigint): boolean {
    if (this.#base === undefined || findLeaf(this.#root, key) !== undefined) return true
    return this.#base.gone.has(hexFromBytes(key)) || this.#base.backing.knows(key, name)
  }

  /** For an empty, whole trie: as `withChanges`, but builds each node once. */
  filled(entries: readonly { readonly key: Uint8Array; readonly value: V }[]): Trie<V> {
    if (!this.isEmpty) throw new Error('only an empty trie can be filled')
    return entries.length === 0
      ? this
      : new Trie(build(entries, 0, new EditToken()), this.encodeValue, undefined)
  }

  /** Later changes win. Shared paths are copied only once. */
  withChanges(changes: Iterable<TrieChange<V>>): Trie<V> {
    if (this.#base !== undefined) return this.#withBackedChanges([...changes], this.#base)
    const root = withValues(this.#root, changes)
    return root === this.#root ? this : new Trie(root, this.encodeValue, undefined)
  }

  /** Starts at `from`, in the order of the keys. Of a backing only known keys. */
  entries(from?: Uint8Array): IterableIterator<readonly [Uint8Array, V]> {
    return walk(this.#base === undefined ? this.#root : withKnown(this.#base, this.#root), from, 0)
  }

  *values(from?: Uint8Array): IterableIterator<V> {
    for (const [, value] of this.entries(from)) yield value
  }

  /**
   * The RLP of the nodes from the root towards `key`: a proof of presence or absence (EIP-1186). Nodes below 32 bytes are part
   * of their parent. Empty for an empty trie.
   */
  proof(key: Uint8Array, name?: Address | bigint): readonly Uint8Array[] {
    return this.#proofTo(key, KEY_NIBBLES, name)
  }

  /**
   * The leaf or extension at which the search for an absent `key` ends; undefined at a branch. After a deletion that collapsed
   * a branch, this is what remains of it.
   */
  nodeBeside(key: Uint8Array): NodePlace | undefined {
    const root = this.#base === undefined ? this.#root : rootFor(this.#base, undefined)
    const last = [...pathTo<unknown>(root, key)].at(-1)
    if (last === undefined || last.kind === 'branch') return undefined
    return { key: last.key, end: last.kind === 'leaf' ? KEY_NIBBLES : last.to }
  }

  proofOf({ key, end }: NodePlace): readonly Uint8Array[] {
    return this.#proofTo(key, end)
  }

  #proofTo(key: Uint8Array, end: number, name?: Address | bigint): readonly Uint8Array[] {
    const base = this.#base
    if (base === undefined) return proofAlong(pathTo(this.#root, key, end), this.encodeValue)
    return proofAlong(pathTo(rootFor(base, name), key, end), asItIs)
  }

  #withBackedChanges(changes: readonly TrieChange<V>[], before: Base<V>): Trie<V> {
    let base = before
    for (const change of changes) base = marked(base, change)
    const root = withValues(this.#root, changes)
    if (root === this.#root && base === before) return this
    const { backing, nodes } = before
    if (backing.nodes !== undefined) {
      const over = nodes ?? backing.nodes.begun
      base = { ...base, nodes: over.with(() => changes.map((each) => this.#sparse(each, backing))) }
    }
    return new Trie(root, this.encodeValue, base)
  }

  #sparse({ key, value, name }: TrieChange<V>, { nodes }: Backing<V>): SparseChange {
    return {
      key,
      encode: () => {
        const asked = value === undefined ? name : nodes?.nameOf(value)
        if (asked !== undefined) nodes?.require(asked)
        return value === undefined ? undefined : this.encodeValue(value)
      },
    }
  }
}

/** Keys that were deleted, with their preimages if they were known. */
export type GoneKeys = PersistentMap<Hex, Pick<TrieChange<unknown>, 'name'>>

export interface BackedParts<V> {
  readonly backing: Backing<V>
  readonly set: TrieNode<V> | undefined
  readonly gone: GoneKeys
}

interface Base<V> extends Pick<BackedParts<V>, 'backing' | 'gone'> {
  /** Undefined before the first change, or if the backing has no nodes. */
  readonly nodes: SparseTrie | undefined
}

interface NodePlace {
  readonly key: Uint8Array
  readonly end: number
}

function below<V>(
  { backing, gone }: Base<V>,
  key: Uint8Array,
  name: Address | bigint | undefined,
): V | undefined {
  return gone.size > 0 && gone.has(hexFromBytes(key)) ? undefined : backing.get(key, name)
}

/** Marks a key of the base as deleted, or as set again. */
function marked<V>(base: Base<V>, { key, value, name }: TrieChange<V>): Base<V> {
  const hex = hexFromBytes(key)
  const isGone = value === undefined
  if (base.gone.has(hex) === isGone) return base
  const named = name === undefined ? {} : { name }
  return { ...base, gone: isGone ? base.gone.set(hex, named) : base.gone.delete(hex) }
}

function rootOver<V>(
  { backing, gone, nodes: changed }: Base<V>,
  set: TrieNode<V> | undefined,
  ownRoot: () => Uint8Array,
): Uint8Array {
  const { nodes } = backing
  if (nodes !== undefined && nodes.whyUnknown() === undefined) {
    return (changed ?? nodes.untouched).rootBytes
  }
  return backing.root(set === undefined && gone.size === 0 ? undefined : ownRoot)
}

function withKnown<V>(
  { backing, gone }: Base<V>,
  set: TrieNode<V> | undefined,
): TrieNode<V> | undefined {
  const edit = new EditToken()
  let root = set
  for (const [key, value] of backing.known()) {
    if (findLeaf(set, key) !== undefined || gone.has(hexFromBytes(key))) continue
    root = insert(root, key, value, 0, edit)
  }
  return root
}

/**
 * @param name the key's preimage, to request the path to it
 * @throws {DevchainError} `METHOD_NOT_SUPPORTED` if the backing has no nodes
 */
function rootFor<V>(
  { backing, nodes: changed }: Base<V>,
  name: Address | bigint | undefined,
): TrieNode<Uint8Array> | undefined {
  const { nodes } = backing
  if (nodes === undefined) throw noNodes('it was not fetched with proofs (--fork-proofs)')
  const why = nodes.whyUnknown()
  if (why !== undefined) throw noNodes(why)
  if (name !== undefined) nodes.require(name)
  return (changed ?? nodes.untouched).root
}

function noNodes(why: string): DevchainError {
  const message = `there are no proofs over this state, which is a fork of another network's: ${why}`
  return new DevchainError('METHOD_NOT_SUPPORTED', message)
}

function withValues<V>(
  before: TrieNode<V> | undefined,
  changes: Iterable<TrieChange<V>>,
): TrieNode<V> | undefined {
  const edit = new EditToken()
  let root = before
  for (const { key, value } of changes) {
    root = value === undefined ? remove(root, key, 0, edit) : insert(root, key, value, 0, edit)
  }
  return root
}

function proofAlong<V>(path: Iterable<WholeNode<V>>, encodeValue: EncodeValue<V>): Uint8Array[] {
  const nodes: Uint8Array[] = []
  for (const node of path) {
    const isRoot = nodes.length === 0
    if (isRoot || !isShort(referenceOf(node, encodeValue))) {
      nodes.push(encodeNode(node, encodeValue))
    }
  }
  return nodes
}
