// A Merkle-Patricia trie in linear memory that gives a root after each change: what mining many blocks at once asks for.
// The slow twin is trie.ts, which each live trie begins with and is tested against.
import { bytesOfDigest, readDigest } from '../core/keccak.ts'
import { type Arena, type Job, type Queue, RATE, STATE_LENGTH } from './arena.ts'
import type { Trie } from './trie.ts'
import {
  type Branch,
  encodeExtension,
  encodeLeaf,
  encodeNode,
  firstDifference,
  isShort,
  KEY_NIBBLES,
  type Node,
  nibbleAt,
  referenceOf,
} from './trienode.ts'

/** Marks a cell whose hash stands in its parent. */
const CLEAN = 0x7fffffff

/** Bytes of the longest branch: a header, sixteen hashes and no value. */
const BRANCH_LENGTH = 3 + 16 * 33 + 1

/** More than the longest node whose RLP stands in its parent instead of its hash. */
const HASH_LENGTH = 32

/** A node is too short to be hashed, which a live trie has no place for. Its keys would have ten nibbles in common. */
export class ShortNodeError extends Error {}

/** A cell's RLP in memory. */
interface Stored {
  at: number
  length: number
}

/** A cell stands in another at a nibble, or in an extension, or is the root. */
interface Placed extends Stored {
  parent: BranchCell | ExtensionCell | undefined
  nibble: number
}

interface LeafCell extends Placed {
  readonly kind: 'leaf'
  readonly key: Uint8Array
  depth: number
  /** Length of the value's RLP, which the leaf's RLP ends with. */
  valueLength: number
}

interface BranchCell extends Placed {
  readonly kind: 'branch'
  /** Cells of those children that were looked at; the others are as in `source`. */
  readonly children: (Cell | undefined)[]
  readonly source: readonly (Node<unknown> | undefined)[]
  /** Where each child's hash is in the RLP; 0 for none. */
  readonly offsets: Uint16Array
  /** A bit for each child that changed since the branch was hashed, and the first byte that did if it is no child's. */
  changed: number
  changedFrom: number
  /** Where states of the sponge are kept; 0: not yet. */
  states: number
}

interface ExtensionCell extends Placed {
  readonly kind: 'extension'
  readonly key: Uint8Array
  readonly from: number
  readonly to: number
  readonly child: BranchCell
}

type Cell = LeafCell | BranchCell | ExtensionCell

/** A cell above changed leaves. */
interface Changed {
  readonly cell: BranchCell | ExtensionCell
  /** The first of its bytes that changed. */
  from: number
  /** How many steps it is above the deepest of them. */
  height: number
}

/** A key's place in a live trie, which it keeps. */
export type LiveLeaf = LeafCell

/** Of a cell that has no parent yet. */
const NOWHERE = { parent: undefined, nibble: 0 } as const

const ZERO_HASH = new Uint8Array(HASH_LENGTH)

/**
 * A trie whose root is asked for after every change or two. Nodes are taken over from `trie` when they are first met, so
 * that the beginning costs nothing. Keys come and change, and never go. One change and root of a trie with 8,191 keys
 * is 10 permutations of Keccak, where trie.ts has 14 and makes new nodes.
 */
export class LiveTrie<V> {
  readonly #arena: Arena
  readonly #trie: Trie<V>
  #root: Cell | undefined
  #layout = 0

  /** @throws {ShortNodeError} as every method */
  constructor(arena: Arena, trie: Trie<V>) {
    this.#arena = arena
    this.#trie = trie
    this.#root = trie.root && this.#cellOf(trie.root)
  }

  /** Another number after branches or extensions came, or moved what is in them. */
  get layout(): number {
    return this.#layout
  }

  /** Sets a key to a value, which is RLP. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.#root =
      this.#root === undefined ? this.#newLeaf(key, 0, value) : this.#put(this.#root, key, value, 0)
  }

  /** The leaf of a key; undefined when there is none. */
  leafOf(key: Uint8Array): LiveLeaf | undefined {
    let cell = this.#root
    let depth = 0
    while (cell !== undefined && cell.kind !== 'leaf') {
      if (cell.kind === 'extension') {
        depth = cell.to
        cell = cell.child
      } else {
        cell = this.#childOf(cell, nibbleAt(key, depth))
        depth += 1
      }
    }
    if (cell === undefined) return undefined
    // from the start: the paths of extensions were not compared
    return firstDifference(cell.key, key, 0, KEY_NIBBLES) === KEY_NIBBLES ? cell : undefined
  }

  /** The RLP of a leaf's value. */
  valueOf(leaf: LiveLeaf): Uint8Array {
    const end = leaf.at + leaf.length
    return this.#arena.bytes.slice(end - leaf.valueLength, end)
  }

  /** The job that hashes a leaf after its value changed in place. For as long as `layout` and the value's length stay. */
  jobOf(leaf: LiveLeaf, root: number): Job {
    return jobOf(leaf, 0, root)
  }

  /**
   * The jobs, in their order, that hash all above leaves of which each was put and hashed before: after values changed in
   * place, and the leaves' own jobs. For as long as `layout` stays.
   * @param root where the root, 32 bytes, is wanted
   */
  jobsAbove(leaves: readonly LiveLeaf[], root: number): Job[] {
    const above: Changed[] = []
    for (const leaf of leaves) {
      let cell: Cell = leaf
      for (let height = 1; cell.parent !== undefined; height++) {
        const { parent, nibble }: Cell = cell
        const place = placeIn(parent, nibble)
        const known = above.find(({ cell: other }) => other === parent)
        if (known === undefined) above.push({ cell: parent, from: place, height })
        else {
          known.from = Math.min(known.from, place)
          known.height = Math.max(known.height, height)
        }
        cell = parent
      }
    }
    // what is above one leaf comes after all that is below it
    above.sort((one, other) => one.height - other.height)
    return above.map(({ cell, from }) => jobOf(cell, from, root))
  }

  /**
   * Tells a trie of the same contents the hashes of its nodes, as far as it does not know them.
   * @param root where `hash` has written the root of what is here now
   */
  shareHashes(trie: Trie<V>, root: number): void {
    const { bytes } = this.#arena
    const view = new DataView(bytes.buffer)
    const share = (cell: Cell, node: Node<V>, hashAt: number): void => {
      if (node.reference !== undefined) return
      node.reference = readDigest(view, hashAt)
      if (cell.kind === 'extension' && node.kind === 'extension') {
        share(cell.child, node.child, cell.at + cell.length - HASH_LENGTH)
      } else if (cell.kind === 'branch' && node.kind === 'branch') {
        for (let nibble = 0; nibble < 16; nibble++) {
          const child = cell.children[nibble]
          // what was not looked at is as it was in the first trie
          if (child === undefined) continue
          share(child, node.children[nibble]!, cell.at + cell.offsets[nibble]!)
        }
      }
    }
    if (this.#root !== undefined && trie.root !== undefined) share(this.#root, trie.root, root)
  }

  /** Has the root, 32 bytes, written to `target` in the arena at its next `run`. The trie has a key. */
  hash(queue: Queue, target: number): void {
    if (this.#root === undefined) throw new Error('a live trie without keys has no root of its own')
    this.#hash(this.#root, queue, target)
  }

  #put(cell: Cell, key: Uint8Array, value: Uint8Array, depth: number): Cell {
    switch (cell.kind) {
      case 'branch': {
        const nibble = nibbleAt(key, depth)
        const child = this.#childOf(cell, nibble)
        if (child === undefined) this.#adopt(cell, nibble, this.#newLeaf(key, depth + 1, value))
        else setChild(cell, nibble, this.#put(child, key, value, depth + 1))
        cell.changed |= 1 << nibble
        return cell
      }
      case 'leaf':
        return this.#putAtLeaf(cell, key, value)
      case 'extension':
        return this.#putAtExtension(cell, key, value)
    }
  }

  #putAtLeaf(leaf: LeafCell, key: Uint8Array, value: Uint8Array): Cell {
    const { depth } = leaf
    const fork = firstDifference(leaf.key, key, depth, KEY_NIBBLES)
    if (fork === KEY_NIBBLES) {
      this.#setValue(leaf, value)
      return leaf
    }
    const own = this.valueOf(leaf)
    // the same cell, as somebody may have it from `leafOf`
    Object.assign(leaf, this.#newLeaf(leaf.key, fork + 1, own))
    return this.#forkAt(fork, depth, [leaf.key, leaf], [key, this.#newLeaf(key, fork + 1, value)])
  }

  #putAtExtension(extension: ExtensionCell, key: Uint8Array, value: Uint8Array): Cell {
    const { from, to, child } = extension
    const fork = firstDifference(extension.key, key, from, to)
    if (fork === to) {
      this.#put(child, key, value, to)
      return extension
    }
    const rest = fork + 1 < to ? this.#newExtension(extension.key, fork + 1, to, child) : child
    const leaf = this.#newLeaf(key, fork + 1, value)
    return this.#forkAt(fork, from, [extension.key, rest], [key, leaf])
  }

  #setValue(leaf: LeafCell, value: Uint8Array): void {
    if (value.length === leaf.valueLength && value.length > 1) {
      this.#arena.bytes.set(value, leaf.at + leaf.length - value.length)
    } else {
      const { parent, nibble } = leaf
      Object.assign(leaf, this.#newLeaf(leaf.key, leaf.depth, value), { parent, nibble })
    }
  }

  #hash(cell: Cell, queue: Queue, target: number): void {
    if (cell.kind === 'branch') {
      this.#hashBranch(cell, queue, target)
      return
    }
    if (cell.kind === 'extension') {
      this.#hash(cell.child, queue, cell.at + cell.length - HASH_LENGTH)
    }
    const { at: source, length } = cell
    this.#arena.enqueue(queue, { source, length, from: 0, states: 0, target })
  }

  #hashBranch(branch: BranchCell, queue: Queue, target: number): void {
    let from = branch.changedFrom
    let left = branch.changed
    while (left !== 0) {
      const nibble = 31 - Math.clz32(left)
      left &= ~(1 << nibble)
      const offset = branch.offsets[nibble]!
      this.#hash(branch.children[nibble]!, queue, branch.at + offset)
      if (offset < from) from = offset
    }
    if (branch.states === 0 || from === CLEAN) from = 0
    if (branch.states === 0 && branch.length >= 2 * RATE) {
      branch.states = this.#arena.allocate(Math.floor(BRANCH_LENGTH / RATE) * STATE_LENGTH)
    }
    const { at: source, length, states } = branch
    this.#arena.enqueue(queue, { source, length, from, states, target })
    branch.changed = 0
    branch.changedFrom = CLEAN
  }

  #childOf(branch: BranchCell, nibble: number): Cell | undefined {
    const known = branch.children[nibble]
    if (known !== undefined) return known
    const node = branch.source[nibble]
    if (node === undefined) return undefined
    const cell = this.#cellOf(node as Node<V>)
    setChild(branch, nibble, cell)
    return cell
  }

  /** The cell of a node that is as it was, its hash where it belongs. */
  #cellOf(node: Node<V>): Cell {
    const { encodeValue } = this.#trie
    if (node.kind === 'branch') return this.#branchOf(node)
    const stored = this.#stored(encodeNode(node, encodeValue))
    switch (node.kind) {
      case 'leaf': {
        const valueLength = encodeValue(node.value).length
        return {
          kind: 'leaf',
          key: node.key,
          depth: node.depth,
          valueLength,
          ...NOWHERE,
          ...stored,
        }
      }
      case 'extension': {
        const { key, from, to } = node
        return extensionOf({ key, from, to, child: this.#branchOf(node.child) }, stored)
      }
    }
  }

  #branchOf(node: Branch<V>): BranchCell {
    const branch = this.#emptyBranch(node.children)
    this.#layOut(branch)
    for (const [nibble, child] of node.children.entries()) {
      if (child === undefined) continue
      const reference = referenceOf(child, this.#trie.encodeValue)
      if (isShort(reference)) throw new ShortNodeError()
      this.#arena.bytes.set(bytesOfDigest(reference), branch.at + branch.offsets[nibble]!)
    }
    branch.changedFrom = CLEAN
    return branch
  }

  #newLeaf(key: Uint8Array, depth: number, value: Uint8Array): LeafCell {
    const encoded = encodeLeaf(key, depth, value)
    return {
      kind: 'leaf',
      key,
      depth,
      valueLength: value.length,
      ...NOWHERE,
      ...this.#stored(encoded),
    }
  }

  #newExtension(key: Uint8Array, from: number, to: number, child: BranchCell): ExtensionCell {
    const encoded = encodeExtension({ key, from, to }, ZERO_HASH)
    return extensionOf({ key, from, to, child }, this.#stored(encoded))
  }

  /** A branch at nibble `fork` with two ways, below an extension when the ways have nibbles in common from `depth` on. */
  #forkAt(
    fork: number,
    depth: number,
    [oneKey, one]: readonly [Uint8Array, Cell],
    [otherKey, other]: readonly [Uint8Array, Cell],
  ): Cell {
    const branch = this.#emptyBranch([])
    setChild(branch, nibbleAt(oneKey, fork), one)
    setChild(branch, nibbleAt(otherKey, fork), other)
    branch.changed = (1 << nibbleAt(oneKey, fork)) | (1 << nibbleAt(otherKey, fork))
    this.#layOut(branch)
    return fork > depth ? this.#newExtension(oneKey, depth, fork, branch) : branch
  }

  /** Gives a branch another child. */
  #adopt(branch: BranchCell, nibble: number, child: Cell): void {
    setChild(branch, nibble, child)
    this.#layOut(branch)
  }

  #emptyBranch(source: readonly (Node<unknown> | undefined)[]): BranchCell {
    return {
      kind: 'branch',
      children: new Array<Cell | undefined>(16).fill(undefined),
      source,
      offsets: new Uint16Array(16),
      changed: 0,
      states: 0,
      ...NOWHERE,
      at: this.#arena.allocate(BRANCH_LENGTH),
      length: 0,
      changedFrom: 0,
    }
  }

  /**
   * Writes the RLP of a branch anew, after children came. Hashes only ever move to the right, so that none is
   * overwritten before it moved when the last goes first.
   */
  #layOut(branch: BranchCell): void {
    this.#layout += 1
    const { at, offsets, children, source } = branch
    const { bytes } = this.#arena
    const has = (nibble: number): boolean =>
      children[nibble] !== undefined || source[nibble] !== undefined
    let payload = 17
    for (let nibble = 0; nibble < 16; nibble++) if (has(nibble)) payload += 32
    const header = payload < 256 ? 2 : 3
    let position = header + payload - 1
    bytes[at + position] = 0x80
    for (let nibble = 15; nibble >= 0; nibble--) {
      if (!has(nibble)) {
        position -= 1
        bytes[at + position] = 0x80
        continue
      }
      position -= 33
      const before = offsets[nibble]!
      if (before !== 0) bytes.copyWithin(at + position + 1, at + before, at + before + 32)
      bytes[at + position] = 0xa0
      offsets[nibble] = position + 1
    }
    writeHeader(bytes, at, payload)
    branch.length = header + payload
    branch.changedFrom = 0
  }

  #stored(encoded: Uint8Array): Stored {
    if (encoded.length < HASH_LENGTH) throw new ShortNodeError()
    const at = this.#arena.allocate(encoded.length)
    this.#arena.bytes.set(encoded, at)
    return { at, length: encoded.length }
  }
}

function setChild(branch: BranchCell, nibble: number, child: Cell): void {
  branch.children[nibble] = child
  child.parent = branch
  child.nibble = nibble
}

/** Where the hash of a child is in the RLP of its parent. */
function placeIn(parent: BranchCell | ExtensionCell, nibble: number): number {
  return parent.kind === 'branch' ? parent.offsets[nibble]! : parent.length - HASH_LENGTH
}

/** What hashes a cell whose bytes have changed from a place on; the hash goes to its parent, or to `root`. */
function jobOf(cell: Cell, changedFrom: number, root: number): Job {
  const { at, length, parent, nibble } = cell
  const states = cell.kind === 'branch' ? cell.states : 0
  const target = parent === undefined ? root : parent.at + placeIn(parent, nibble)
  return { source: at, length, from: states === 0 ? 0 : changedFrom, states, target }
}

function extensionOf(
  path: Pick<ExtensionCell, 'key' | 'from' | 'to' | 'child'>,
  stored: Stored,
): ExtensionCell {
  const extension: ExtensionCell = { kind: 'extension', ...path, ...NOWHERE, ...stored }
  path.child.parent = extension
  return extension
}

/** The header of a list of 56 bytes or more. */
function writeHeader(bytes: Uint8Array, at: number, payload: number): void {
  if (payload < 256) {
    bytes[at] = 0xf8
    bytes[at + 1] = payload
  } else {
    bytes[at] = 0xf9
    bytes[at + 1] = payload >> 8
    bytes[at + 2] = payload & 0xff
  }
}
