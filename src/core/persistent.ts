// Persistent collections: a change returns a new value in O(log n) that shares the rest with the old one.

/** An immutable map with text keys. Equal contents have the same, unspecified order. */
export interface PersistentMap<K extends string, V> {
  readonly size: number
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): PersistentMap<K, V>
  delete(key: K): PersistentMap<K, V>
  entries(): IterableIterator<readonly [K, V]>
  readonly parts: MapParts<K, V>
}

export interface PersistentList<V> {
  readonly length: number
  at(index: number): V | undefined
  push(value: V): PersistentList<V>
  truncate(length: number): PersistentList<V>
  values(from?: number): IterableIterator<V>
  /**
   * All items in [from, to), and some around them, in pieces of at most `PIECE`. Lists of common origin share their full pieces
   * as the same arrays, so callers can cache by piece.
   */
  pieces(from: number, to: number): IterableIterator<ListChunk<V>>
  readonly parts: ListParts<V>
}

export interface ListChunk<V> {
  readonly start: number
  readonly items: readonly V[]
}

export function emptyMap<K extends string, V>(): PersistentMap<K, V> {
  return new HashMap<K, V>(0, undefined)
}

export function emptyList<V>(): PersistentList<V> {
  return new RadixList<V>(0, BITS, [])
}

const BITS = 5
const MASK = 31

export const PIECE: number = MASK + 1

export interface MapLeaf<K, V> {
  readonly kind: 'leaf'
  readonly hash: number
  readonly key: K
  readonly value: V
}
export interface MapCollision<K, V> {
  readonly kind: 'collision'
  readonly hash: number
  readonly leaves: readonly MapLeaf<K, V>[]
}
/** `children` holds only the children whose bit is set in `bitmap`, in order. */
export interface MapBranch<K, V> {
  readonly kind: 'branch'
  readonly bitmap: number
  readonly children: readonly MapNode<K, V>[]
}
/** A branch in a store, read on demand. */
export interface UnreadBranch<K, V> {
  readonly kind: 'unread'
  readonly read: () => MapBranch<K, V>
}
export type MapNode<K, V> =
  | MapLeaf<K, V>
  | MapCollision<K, V>
  | MapBranch<K, V>
  | UnreadBranch<K, V>

/** What a map or list consists of, for those who store it. */
export interface MapParts<K, V> {
  readonly size: number
  readonly root: MapNode<K, V> | undefined
}

export function mapFromParts<K extends string, V>({
  size,
  root,
}: MapParts<K, V>): PersistentMap<K, V> {
  return new HashMap(size, root)
}

function whole<K, V>(node: MapNode<K, V>): MapLeaf<K, V> | MapCollision<K, V> | MapBranch<K, V> {
  return node.kind === 'unread' ? node.read() : node
}

class HashMap<K extends string, V> implements PersistentMap<K, V> {
  readonly size: number
  private readonly root: MapNode<K, V> | undefined

  constructor(size: number, root: MapNode<K, V> | undefined) {
    this.size = size
    this.root = root
  }

  get parts(): MapParts<K, V> {
    return { size: this.size, root: this.root }
  }

  get(key: K): V | undefined {
    return this.root && find(this.root, hashText(key), key)?.value
  }

  has(key: K): boolean {
    return this.root !== undefined && find(this.root, hashText(key), key) !== undefined
  }

  set(key: K, value: V): PersistentMap<K, V> {
    const leaf: MapLeaf<K, V> = { kind: 'leaf', hash: hashText(key), key, value }
    if (this.root === undefined) return new HashMap(1, leaf)
    const isNew = find(this.root, leaf.hash, key) === undefined
    return new HashMap(this.size + (isNew ? 1 : 0), put(this.root, leaf, 0))
  }

  delete(key: K): PersistentMap<K, V> {
    if (this.root === undefined || !this.has(key)) return this
    return new HashMap(this.size - 1, remove(this.root, hashText(key), key, 0))
  }

  entries(): IterableIterator<readonly [K, V]> {
    return entriesOf(this.root)
  }
}

/** FNV-1a. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** How many bits of 32 are set. */
export function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function bitOf(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & MASK)
}

function indexOf(bitmap: number, bit: number): number {
  return bitCount(bitmap & (bit - 1))
}

function find<K, V>(root: MapNode<K, V>, hash: number, key: K): MapLeaf<K, V> | undefined {
  let node = root
  for (let shift = 0; node.kind === 'branch' || node.kind === 'unread'; ) {
    if (node.kind === 'unread') {
      node = node.read()
      continue
    }
    const bit = bitOf(hash, shift)
    if ((node.bitmap & bit) === 0) return undefined
    node = node.children[indexOf(node.bitmap, bit)] as MapNode<K, V>
    shift += BITS
  }
  if (node.kind === 'leaf') return node.key === key ? node : undefined
  return node.leaves.find((leaf) => leaf.key === key)
}

function put<K, V>(at: MapNode<K, V>, leaf: MapLeaf<K, V>, shift: number): MapNode<K, V> {
  const node = whole(at)
  if (node.kind === 'branch') {
    const bit = bitOf(leaf.hash, shift)
    const at = indexOf(node.bitmap, bit)
    const old = node.children[at]
    if ((node.bitmap & bit) === 0 || old === undefined) {
      return { ...node, bitmap: node.bitmap | bit, children: node.children.toSpliced(at, 0, leaf) }
    }
    return { ...node, children: node.children.with(at, put(old, leaf, shift + BITS)) }
  }
  if (node.kind === 'leaf' && node.key === leaf.key) return leaf
  if (node.hash !== leaf.hash) {
    const parent: MapBranch<K, V> = {
      kind: 'branch',
      bitmap: bitOf(node.hash, shift),
      children: [node],
    }
    return put(parent, leaf, shift)
  }
  const others =
    node.kind === 'leaf' ? [node] : node.leaves.filter((other) => other.key !== leaf.key)
  // sorted, so that equal contents have equal shapes
  const leaves = [...others, leaf].sort((a, b) => (a.key < b.key ? -1 : 1))
  return { kind: 'collision', hash: leaf.hash, leaves }
}

function remove<K, V>(
  before: MapNode<K, V>,
  hash: number,
  key: K,
  shift: number,
): MapNode<K, V> | undefined {
  const node = whole(before)
  if (node.kind === 'leaf') return undefined
  if (node.kind === 'collision') {
    const leaves = node.leaves.filter((leaf) => leaf.key !== key)
    return leaves.length === 1 ? leaves[0] : { ...node, leaves }
  }
  const bit = bitOf(hash, shift)
  const at = indexOf(node.bitmap, bit)
  const child = remove(node.children[at] as MapNode<K, V>, hash, key, shift + BITS)
  if (child !== undefined) {
    // a lone leaf moves up, so that equal contents have equal shapes
    if (node.children.length === 1 && !isBranch(child)) return child
    return { ...node, children: node.children.with(at, child) }
  }
  const children = node.children.toSpliced(at, 1)
  const [only] = children
  if (only === undefined) return undefined
  if (children.length === 1 && !isBranch(only)) return only
  return { ...node, bitmap: node.bitmap & ~bit, children }
}

function isBranch({ kind }: MapNode<unknown, unknown>): boolean {
  return kind === 'branch' || kind === 'unread'
}

function* entriesOf<K, V>(at: MapNode<K, V> | undefined): IterableIterator<readonly [K, V]> {
  if (at === undefined) return
  const node = whole(at)
  if (node.kind === 'leaf') yield [node.key, node.value]
  else if (node.kind === 'collision') for (const leaf of node.leaves) yield [leaf.key, leaf.value]
  else for (const child of node.children) yield* entriesOf(child)
}

export type ListNode<V> = readonly (ListNode<V> | UnreadItems<V> | V)[]

/** A part of a list in a store, read on demand. */
export class UnreadItems<V> {
  readonly read: () => ListNode<V>

  constructor(read: () => ListNode<V>) {
    this.read = read
  }
}

export interface ListParts<V> {
  readonly length: number
  /** Number of index bits below the root's. */
  readonly shift: number
  readonly root: ListNode<V> | UnreadItems<V>
}

export function listFromParts<V>({ length, shift, root }: ListParts<V>): PersistentList<V> {
  return new RadixList(length, shift, root)
}

function childAt<V>(node: ListNode<V>, slot: number): ListNode<V> {
  const child = node[slot] as ListNode<V> | UnreadItems<V>
  return child instanceof UnreadItems ? child.read() : child
}

/** A radix tree; `shift` is the number of index bits below the root's. */
class RadixList<V> implements PersistentList<V> {
  readonly length: number
  private readonly shift: number
  readonly #root: ListNode<V> | UnreadItems<V>

  constructor(length: number, shift: number, root: ListNode<V> | UnreadItems<V>) {
    this.length = length
    this.shift = shift
    this.#root = root
  }

  private get root(): ListNode<V> {
    return this.#root instanceof UnreadItems ? this.#root.read() : this.#root
  }

  get parts(): ListParts<V> {
    return { length: this.length, shift: this.shift, root: this.#root }
  }

  at(index: number): V | undefined {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) return undefined
    let node = this.root
    for (let shift = this.shift; shift > 0; shift -= BITS) {
      node = childAt(node, (index >>> shift) & MASK)
    }
    return node[index & MASK] as V
  }

  push(value: V): PersistentList<V> {
    const isFull = this.length === 2 ** (this.shift + BITS)
    const root = isFull ? [this.root] : this.root
    const shift = isFull ? this.shift + BITS : this.shift
    return new RadixList(this.length + 1, shift, append(root, this.length, shift, value))
  }

  truncate(length: number): PersistentList<V> {
    if (length >= this.length) return this
    if (length <= 0) return emptyList()
    return new RadixList(length, this.shift, cut(this.root, length - 1, this.shift))
  }

  *values(from = 0): IterableIterator<V> {
    const first = Math.max(0, from)
    for (const { start, items } of this.pieces(first, this.length)) {
      for (let at = Math.max(0, first - start); at < items.length; at++) yield items[at]!
    }
  }

  *pieces(from: number, to: number): IterableIterator<ListChunk<V>> {
    const end = Math.min(to, this.length)
    for (let start = Math.max(0, from) & ~MASK; start < end; start += PIECE) {
      let node = this.root
      for (let shift = this.shift; shift > 0; shift -= BITS) {
        node = childAt(node, (start >>> shift) & MASK)
      }
      yield { start, items: node as readonly V[] }
    }
  }
}

function append<V>(node: ListNode<V>, index: number, shift: number, value: V): ListNode<V> {
  const slot = (index >>> shift) & MASK
  const child =
    shift === 0
      ? value
      : append(slot < node.length ? childAt(node, slot) : [], index, shift - BITS, value)
  return slot < node.length ? node.with(slot, child) : [...node, child]
}

function cut<V>(node: ListNode<V>, last: number, shift: number): ListNode<V> {
  const slot = (last >>> shift) & MASK
  const kept = node.slice(0, slot + 1)
  return shift === 0 ? kept : kept.with(slot, cut(childAt(kept, slot), last, shift - BITS))
}
