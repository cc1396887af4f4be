// A persistent Merkle-Patricia trie: immutable, each node remembers its hash, hashed when first asked.

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
import type { Backing } from './backing.ts'
import {
  type Branch,
  type EditToken,
  type EncodeValue,
  type Extension,
  encodeNode,
  firstDifference,
  isShort,
  KEY_NIBBLES,
  type Leaf,
  makeBranch,
  makeExtension,
  makeLeaf,
  type Node,
  nibbleAt,
  referenceOf,
  rootReference,
} from './trienode.ts'

/** One change of a batch; an undefined value takes the key away. */
export interface TrieChange<V> {
  readonly key: Uint8Array
  readonly value: V | undefined
}

/** Keccak-256 of the RLP of nothing: the root of a trie without keys. */
const EMPTY_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

const EMPTY_ROOT_BYTES = bytesFromHex(EMPTY_ROOT)

/**
 * An immutable map from 32-byte keys to values, with a root hash. A change costs O(log n) and shares all other nodes,
 * and their hashes, with the trie it was made from; to keep a version is to keep the reference. Keys are expected
 * to be hashes themselves: they are not hashed here, and must not be changed by anyone later.
 */
export class Trie<V> {
  readonly #root: Node<V> | undefined
  readonly #encodeValue: EncodeValue<V>
  /** Keys that another network has; undefined: the trie has no keys but its own. */
  readonly #base: Base<V> | undefined

  private constructor(
    root: Node<V> | undefined,
    encodeValue: EncodeValue<V>,
    base: Base<V> | undefined,
  ) {
    this.#root = root
    this.#encodeValue = encodeValue
    this.#base = base
  }

  /** A trie without keys. `encodeValue` gives the RLP of a value, called when its leaf is hashed. */
  static empty<V>(encodeValue: EncodeValue<V>): Trie<V> {
    return new Trie<V>(undefined, encodeValue, undefined)
  }

  /** A trie with the keys of a backing, of which only a part is here. */
  static backed<V>(encodeValue: EncodeValue<V>, backing: Backing<V>): Trie<V> {
    return new Trie<V>(undefined, encodeValue, { backing, gone: emptyMap() })
  }

  /** False also where a backing has the keys: which of them there are is not known. */
  get isEmpty(): boolean {
    return this.#root === undefined && this.#base === undefined
  }

  /** True when not all of its keys are here. */
  get isBacked(): boolean {
    return this.#base !== undefined
  }

  /** The Merkle root. The first call hashes what changed since the versions that were hashed before. */
  get rootHash(): Hash {
    return this.isEmpty ? EMPTY_ROOT : hashFromBytes(this.rootBytes)
  }

  /** The Merkle root as 32 bytes, not to be changed. Where there is a backing, it says what that is. */
  get rootBytes(): Uint8Array {
    return this.#base === undefined ? this.#ownRoot() : rootOver(this.#base, this.#root, this)
  }

  /** The root node, to walk the nodes from; undefined without keys. Not to be changed. */
  get root(): Node<V> | undefined {
    requireWhole(this.#base)
    return this.#root
  }

  /** What a value is in its leaf: RLP. */
  get encodeValue(): EncodeValue<V> {
    return this.#encodeValue
  }

  /**
   * @param name what the key is the hash of: a backing asks for it by that
   * @throws {MissingState} where a backing does not know the value yet
   */
  get(key: Uint8Array, name?: Address | bigint): V | undefined {
    const leaf = findLeaf(this.#root, key)
    if (leaf === undefined && this.#base !== undefined) return below(this.#base, key, name)
    return leaf?.value
  }

  /** True when `get` answers at once. */
  knows(key: Uint8Array, name?: Address | bigint): boolean {
    if (this.#base === undefined || findLeaf(this.#root, key) !== undefined) return true
    return this.#base.gone.has(hexFromBytes(key)) || this.#base.backing.knows(key, name)
  }

  set(key: Uint8Array, value: V): Trie<V> {
    return this.withChanges([{ key, value }])
  }

  delete(key: Uint8Array): Trie<V> {
    return this.withChanges([{ key, value: undefined }])
  }

  /** All changes at once, later ones over earlier ones: nodes on shared paths are copied only once. */
  withChanges(changes: Iterable<TrieChange<V>>): Trie<V> {
    const edit: EditToken = {}
    let root = this.#root
    let base = this.#base
    for (const { key, value } of changes) {
      root = value === undefined ? remove(root, key, 0, edit) : insert(root, key, value, 0, edit)
      if (base !== undefined) base = marked(base, key, value === undefined)
    }
    if (root === this.#root && base === this.#base) return this
    return new Trie(root, this.#encodeValue, base)
  }

  /**
   * Keys and values in the order of the keys, beginning at `from` or what follows it. Of a backing those that are known.
   */
  entries(from?: Uint8Array): IterableIterator<readonly [Uint8Array, V]> {
    return walk(this.#base === undefined ? this.#root : withKnown(this.#base, this.#root), from, 0)
  }

  /** Values in the order of their keys. */
  *values(from?: Uint8Array): IterableIterator<V> {
    for (const [, value] of this.entries(from)) yield value
  }

  /**
   * The RLP of the nodes from the root towards `key`, as far as they exist: proof that the key has its value, or
   * that it has none. A node shorter than 32 bytes is part of its parent and not listed. No nodes for an empty trie.
   * @see https://eips.ethereum.org/EIPS/eip-1186
   */
  proof(key: Uint8Array): readonly Uint8Array[] {
    requireWhole(this.#base)
    const nodes: Uint8Array[] = []
    for (const node of pathTo(this.#root, key)) {
      const isRoot = nodes.length === 0
      if (isRoot || !isShort(referenceOf(node, this.#encodeValue))) {
        nodes.push(encodeNode(node, this.#encodeValue))
      }
    }
    return nodes
  }

  /**
   * A key below the leaf or extension at which the search for an absent `key` ends; undefined where it ends at a branch. When
   * the key was taken away, and its branch with it, that is a key of what was left of the branch.
   */
  keyBeside(key: Uint8Array): Uint8Array | undefined {
    requireWhole(this.#base)
    let last: Node<V> | undefined
    for (const node of pathTo(this.#root, key)) last = node
    return last === undefined || last.kind === 'branch' ? undefined : last.key
  }

  #ownRoot(): Uint8Array {
    return this.#root === undefined
      ? EMPTY_ROOT_BYTES
      : rootReference(this.#root, this.#encodeValue)
  }
}

/** What a trie has besides its own nodes. */
interface Base<V> {
  readonly backing: Backing<V>
  /** Keys of the backing that were taken away, as hex. */
  readonly gone: PersistentMap<Hex, true>
}

/** The value of a key that the trie's own nodes do not have. */
function below<V>(
  { backing, gone }: Base<V>,
  key: Uint8Array,
  name: Address | bigint | undefined,
): V | undefined {
  return gone.size > 0 && gone.has(hexFromBytes(key)) ? undefined : backing.get(key, name)
}

/** The base with a key taken away, or back as it was set. */
function marked<V>(base: Base<V>, key: Uint8Array, isGone: boolean): Base<V> {
  const hex = hexFromBytes(key)
  if (base.gone.has(hex) === isGone) return base
  return { ...base, gone: isGone ? base.gone.set(hex, true) : base.gone.delete(hex) }
}

function rootOver<V>(
  { backing, gone }: Base<V>,
  set: Node<V> | undefined,
  { encodeValue }: Trie<V>,
): Uint8Array {
  const setRoot = (): Uint8Array =>
    set === undefined ? EMPTY_ROOT_BYTES : rootReference(set, encodeValue)
  const keys = [...gone.entries()].map(([key]) => bytesFromHex(key))
  return backing.root({ set, setRoot, gone: keys })
}

/** The nodes of all keys that are here. */
function withKnown<V>({ backing, gone }: Base<V>, set: Node<V> | undefined): Node<V> | undefined {
  const edit: EditToken = {}
  let root = set
  for (const [key, value] of backing.known()) {
    if (findLeaf(set, key) !== undefined || gone.has(hexFromBytes(key))) continue
    root = insert(root, key, value, 0, edit)
  }
  return root
}

/** @throws {DevchainError} `METHOD_NOT_SUPPORTED` where nodes are wanted that are not here */
function requireWhole<V>(base: Base<V> | undefined): void {
  if (base === undefined) return
  const message =
    'this state is a fork of another network, of which only a part is here: there are no proofs over it'
  throw new DevchainError('METHOD_NOT_SUPPORTED', message)
}

function findLeaf<V>(root: Node<V> | undefined, key: Uint8Array): Leaf<V> | undefined {
  let node = root
  let depth = 0
  while (node !== undefined) {
    if (node.kind === 'branch') {
      node = node.children[nibbleAt(key, depth)]
      depth += 1
    } else if (node.kind === 'leaf') {
      // keys are remembered (`addressKey`), and nearly always the same object, which is quicker to compare
      if (node.key === key) return node
      return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? node : undefined
    } else {
      if (firstDifference(node.key, key, depth, node.to) !== node.to) return undefined
      depth = node.to
      node = node.child
    }
  }
  return undefined
}

/** The nodes that a search for `key` meets, the one where it fails included. */
function* pathTo<V>(root: Node<V> | undefined, key: Uint8Array): IterableIterator<Node<V>> {
  let node = root
  let depth = 0
  while (node !== undefined) {
    yield node
    if (node.kind === 'leaf') return
    if (node.kind === 'branch') {
      node = node.children[nibbleAt(key, depth)]
      depth += 1
    } else {
      if (firstDifference(node.key, key, depth, node.to) !== node.to) return
      depth = node.to
      node = node.child
    }
  }
}

/**
 * The node with `key` set below it; `node` itself when nothing changes, or when it was made in this batch and is
 * changed in place. A node of this batch has only ancestors of this batch, and none of them is hashed before it ends.
 */
function insert<V>(
  node: Node<V> | undefined,
  key: Uint8Array,
  value: V,
  depth: number,
  edit: EditToken,
): Node<V> {
  if (node === undefined) return makeLeaf(key, depth, value, edit)
  if (node.kind === 'branch') return insertIntoBranch(node, key, value, depth, edit)
  if (node.kind === 'leaf') return insertAtLeaf(node, key, value, edit)
  const fork = firstDifference(node.key, key, depth, node.to)
  if (fork === node.to) {
    const child = insertIntoBranch(node.child, key, value, node.to, edit)
    return withChild(node, child, edit)
  }
  const rest =
    fork + 1 < node.to ? makeExtension(node.key, fork + 1, node.to, node.child, edit) : node.child
  const leaf = makeLeaf(key, fork + 1, value, edit)
  return forkAt(fork, depth, { key: node.key, node: rest }, { key, node: leaf }, edit)
}

function insertIntoBranch<V>(
  branch: Branch<V>,
  key: Uint8Array,
  value: V,
  depth: number,
  edit: EditToken,
): Branch<V> {
  const nibble = nibbleAt(key, depth)
  const before = branch.children[nibble]
  const after = insert(before, key, value, depth + 1, edit)
  if (after === before) return branch
  return withChildAt(branch, nibble, after, edit)
}

function insertAtLeaf<V>(leaf: Leaf<V>, key: Uint8Array, value: V, edit: EditToken): Node<V> {
  const fork = firstDifference(leaf.key, key, leaf.depth, KEY_NIBBLES)
  if (fork < KEY_NIBBLES) {
    const moved = makeLeaf(leaf.key, fork + 1, leaf.value, edit)
    const added = makeLeaf(key, fork + 1, value, edit)
    return forkAt(fork, leaf.depth, { key: leaf.key, node: moved }, { key, node: added }, edit)
  }
  if (leaf.value === value) return leaf
  if (leaf.edit !== edit) return makeLeaf(leaf.key, leaf.depth, value, edit)
  leaf.value = value
  return leaf
}

/** A node and a key below it: which way it lies. */
interface Way<V> {
  readonly key: Uint8Array
  readonly node: Node<V>
}

/** A branch at nibble `fork` with two ways, below an extension when the ways have nibbles in common from `depth` on. */
function forkAt<V>(
  fork: number,
  depth: number,
  one: Way<V>,
  other: Way<V>,
  edit: EditToken,
): Node<V> {
  const children = new Array<Node<V> | undefined>(16).fill(undefined)
  children[nibbleAt(one.key, fork)] = one.node
  children[nibbleAt(other.key, fork)] = other.node
  const branch = makeBranch(children, 2, edit)
  return fork > depth ? makeExtension(one.key, depth, fork, branch, edit) : branch
}

/** The node without `key` below it, in canonical form; `node` itself as in `insert`. */
function remove<V>(
  node: Node<V> | undefined,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): Node<V> | undefined {
  if (node === undefined) return undefined
  if (node.kind === 'branch') return removeFromBranch(node, key, depth, edit)
  if (node.kind === 'leaf') {
    return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? undefined : node
  }
  if (firstDifference(node.key, key, depth, node.to) !== node.to) return node
  const child = removeFromBranch(node.child, key, node.to, edit)
  if (child === node.child) return node
  return child.kind === 'branch'
    ? withChild(node, child, edit)
    : lengthen(child, firstKey(child), depth, edit)
}

/** A branch that keeps one child gives way to that child. */
function removeFromBranch<V>(
  branch: Branch<V>,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): Node<V> {
  const nibble = nibbleAt(key, depth)
  const before = branch.children[nibble]
  const after = remove(before, key, depth + 1, edit)
  if (after === before) return branch
  if (after !== undefined || branch.count > 2) return withChildAt(branch, nibble, after, edit)
  const last = branch.children.find((child, i) => child !== undefined && i !== nibble)!
  return lengthen(last, firstKey(last), depth, edit)
}

/** The node, its path beginning at `depth` instead of further down: what canonical form asks when a branch goes. */
function lengthen<V>(
  node: Node<V>,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): Leaf<V> | Extension<V> {
  switch (node.kind) {
    case 'leaf':
      return makeLeaf(key, depth, node.value, edit)
    case 'extension':
      return makeExtension(key, depth, node.to, node.child, edit)
    case 'branch':
      return makeExtension(key, depth, depth + 1, node, edit)
  }
}

/** A key below the node. */
function firstKey<V>(node: Node<V>): Uint8Array {
  let at = node
  while (at.kind === 'branch') at = at.children.find((child) => child !== undefined)!
  return at.key
}

function withChild<V>(extension: Extension<V>, child: Branch<V>, edit: EditToken): Extension<V> {
  if (extension.child === child) return extension
  if (extension.edit !== edit) {
    return makeExtension(extension.key, extension.from, extension.to, child, edit)
  }
  extension.child = child
  return extension
}

function withChildAt<V>(
  branch: Branch<V>,
  nibble: number,
  child: Node<V> | undefined,
  edit: EditToken,
): Branch<V> {
  const fresh =
    branch.edit === edit ? branch : makeBranch(branch.children.slice(), branch.count, edit)
  const before = fresh.children[nibble]
  fresh.children[nibble] = child
  fresh.count += (child === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
  return fresh
}

function* walk<V>(
  node: Node<V> | undefined,
  from: Uint8Array | undefined,
  depth: number,
): IterableIterator<readonly [Uint8Array, V]> {
  if (node === undefined) return
  if (node.kind === 'branch') {
    const first = from === undefined ? 0 : nibbleAt(from, depth)
    // only the first way is bounded by `from`; all keys of the others are above it
    for (let i = first; i < 16; i++) {
      yield* walk(node.children[i], i === first ? from : undefined, depth + 1)
    }
    return
  }
  const end = node.kind === 'leaf' ? KEY_NIBBLES : node.to
  const fork = from === undefined ? end : firstDifference(node.key, from, depth, end)
  const differs = from !== undefined && fork < end
  if (differs && nibbleAt(node.key, fork) < nibbleAt(from, fork)) return
  if (node.kind === 'leaf') yield [node.key, node.value]
  else yield* walk(node.child, differs ? undefined : from, node.to)
}
