// A Merkle-Patricia trie in linear memory with a root after each change, for mining empty blocks. Keys are added and
// changed, never removed. One change in a trie of 8,191 keys takes 11 Keccak permutations. The slow twin is
// state/trie.ts. Compiled by src/build/wasm.mjs.
import { RATE, STATE_LENGTH } from '../../../core/crypto/assembly/keccak'
import { enqueue, Job } from './jobs'
import { firstDifference, headerSize, KEY_NIBBLES, LEAF_OVERHEAD, nibbleAt } from './rlp'
import { writeExtension, writeLeaf, writeListHeader } from './rlp'

const LEAF: u32 = 0
const BRANCH: u32 = 1
const EXTENSION: u32 = 2

/** Bytes of the longest branch: a header, sixteen hashes and no value. */
const BRANCH_LENGTH: usize = 3 + 16 * 33 + 1

/** Bytes of a hash. A node shorter than this would stand in its parent in place of its hash. */
const HASH_LENGTH: u32 = 32

/** Its RLP is hashed after all nodes below when `changed` is not 0. */
@unmanaged
class Node extends Job {
  kind: u32
  /** The node that holds its hash, in a branch at its nibble; 0 for the root. */
  parent: usize
  nibble: u32
  /** For a leaf and an extension 1; for a branch one bit for each changed child. */
  changed: u32
}

@unmanaged
class Leaf extends Node {
  /** 32 bytes. Its nibbles from `depth` on are in the leaf. */
  key: usize
  depth: u32
  /** Bytes of the value, which is RLP and ends the leaf's. */
  valueLength: u32
}

@unmanaged
class Extension extends Node {
  /** 32 bytes. Its nibbles from `begin` to before `end` are in the extension. */
  key: usize
  begin: u32
  end: u32
  child: usize
}

@unmanaged
class Branch extends Node {
  /** 1 when its RLP was laid out again since the last hash. */
  isMoved: u32
  /** The first of the sixteen children, four bytes each; 0 for none. */
  children: u32
}

@unmanaged
export class LiveTrie {
  root: usize
  target: u32
}

/** Zeroed bytes. They are never freed: the memory goes as a whole. */
export function allocate(length: usize): usize {
  return heap.alloc(length)
}

/**
 * Sets a key (32 bytes that stay) to a value, RLP of at most 55 bytes.
 * @returns the leaf, which stays the key's; 0 when a node is too short to be hashed: the trie is unusable then
 */
export function put(trie: LiveTrie, key: usize, value: usize, length: u32): usize {
  const leaf = insert(trie, key, value, length)
  if (leaf.length < HASH_LENGTH) return 0
  touch(leaf)
  return changetype<usize>(leaf)
}

/** Writes another value of the same length; false when the lengths differ. */
export function overwrite(at: usize, value: usize, length: u32): bool {
  const leaf = changetype<Leaf>(at)
  if (leaf.valueLength != length || length == 1) return false
  memory.copy(leaf.source + leaf.length - length, value, length)
  touch(leaf)
  return true
}

export function hash(trie: LiveTrie, queue: u32): void {
  if (trie.root != 0) hashNode(changetype<Node>(trie.root), queue)
}

function hashNode(node: Node, queue: u32): void {
  let changed = node.changed
  if (changed == 0) return
  node.changed = 0
  if (node.kind == EXTENSION) {
    hashNode(changetype<Node>(changetype<Extension>(node).child), queue)
  } else if (node.kind == BRANCH) {
    const branch = changetype<Branch>(node)
    const first = childOf(branch, ctz(changed)).target - node.source
    node.from = branch.isMoved || node.states == 0 ? 0 : first
    branch.isMoved = 0
    for (; changed != 0; changed &= changed - 1) hashNode(childOf(branch, ctz(changed)), queue)
  }
  enqueue(queue, node)
}

function touch(node: Node): void {
  if (node.kind != BRANCH) node.changed = 1
  while (node.parent != 0) {
    const parent = changetype<Node>(node.parent)
    const bit = parent.kind == BRANCH ? 1 << node.nibble : 1
    if (parent.changed & bit) return
    parent.changed |= bit
    node = parent
  }
}

function insert(trie: LiveTrie, key: usize, value: usize, length: u32): Leaf {
  // where the address of the next node stands
  let link = changetype<usize>(trie)
  let parent: usize = 0
  let depth: u32 = 0
  while (load<usize>(link) != 0) {
    const node = load<Node>(link)
    if (node.kind == LEAF) {
      const leaf = changetype<Leaf>(node)
      const fork = firstDifference(leaf.key, key, depth, KEY_NIBBLES)
      if (fork == KEY_NIBBLES) {
        writeValue(leaf, value, length)
        return leaf
      }
      const branch = forkAt(link, key, depth, fork)
      adopt(branch, leaf, nibbleAt(leaf.key, fork))
      deepen(leaf, fork + 1)
      touch(leaf)
      return leafIn(branch, key, fork, value, length)
    }
    if (node.kind == EXTENSION) {
      const extension = changetype<Extension>(node)
      const fork = firstDifference(extension.key, key, depth, extension.end)
      if (fork != extension.end) {
        const branch = forkAt(link, key, depth, fork)
        const rest = restOf(extension, fork + 1)
        adopt(branch, rest, nibbleAt(extension.key, fork))
        touch(rest)
        return leafIn(branch, key, fork, value, length)
      }
      link = offsetof<Extension>('child') + changetype<usize>(extension)
      depth = fork
    } else {
      const nibble = nibbleAt(key, depth)
      link = linkOf(changetype<Branch>(node), nibble)
      if (load<usize>(link) == 0) return leafIn(changetype<Branch>(node), key, depth, value, length)
      depth += 1
    }
    parent = changetype<usize>(node)
  }
  const leaf = newLeaf(key, depth, value, length)
  leaf.parent = parent
  leaf.target = trie.target
  store<usize>(link, changetype<usize>(leaf))
  return leaf
}

/** Puts a branch at nibble `fork` of `key` in place of the node at `link`, whose path begins at nibble `depth`. */
function forkAt(link: usize, key: usize, depth: u32, fork: u32): Branch {
  const old = load<Node>(link)
  const branch = changetype<Branch>(allocate(offsetof<Branch>() + 4 * 15))
  branch.kind = BRANCH
  branch.source = <u32>allocate(BRANCH_LENGTH)
  let top: Node = branch
  if (fork > depth) {
    const extension = newExtension(key, depth, fork)
    extension.child = changetype<usize>(branch)
    branch.parent = changetype<usize>(extension)
    branch.target = tailOf(extension)
    top = extension
  }
  top.parent = old.parent
  top.nibble = old.nibble
  top.target = old.target
  store<usize>(link, changetype<usize>(top))
  return branch
}

/** The rest of an extension from a nibble on: a shorter one, or the branch below. Its parent must be updated. */
function restOf(extension: Extension, begin: u32): Node {
  const child = changetype<Node>(extension.child)
  if (begin == extension.end) return child
  const rest = newExtension(extension.key, begin, extension.end)
  rest.child = extension.child
  memory.copy(tailOf(rest), child.target, HASH_LENGTH)
  child.target = tailOf(rest)
  child.parent = changetype<usize>(rest)
  return rest
}

function leafIn(branch: Branch, key: usize, depth: u32, value: usize, length: u32): Leaf {
  const leaf = newLeaf(key, depth + 1, value, length)
  adopt(branch, leaf, nibbleAt(key, depth))
  return leaf
}

function newLeaf(key: usize, depth: u32, value: usize, length: u32): Leaf {
  const leaf = changetype<Leaf>(allocate(offsetof<Leaf>()))
  leaf.kind = LEAF
  leaf.key = key
  leaf.depth = depth
  writeValue(leaf, value, length)
  return leaf
}

function newExtension(key: usize, begin: u32, end: u32): Extension {
  const extension = changetype<Extension>(allocate(offsetof<Extension>()))
  extension.kind = EXTENSION
  extension.key = key
  extension.begin = begin
  extension.end = end
  extension.source = <u32>allocate(LEAF_OVERHEAD + HASH_LENGTH)
  extension.length = writeExtension(extension.source, key, begin, end)
  return extension
}

/** Uses new memory for the value, because it may be longer than the old one. */
function writeValue(leaf: Leaf, value: usize, length: u32): void {
  const room = allocate(LEAF_OVERHEAD + length)
  leaf.source = <u32>room
  leaf.length = writeLeaf(room, leaf.key, leaf.depth, value, length)
  leaf.valueLength = length
}

function deepen(leaf: Leaf, depth: u32): void {
  const value = leaf.source + leaf.length - leaf.valueLength
  leaf.depth = depth
  writeValue(leaf, value, leaf.valueLength)
}

/** Gives a branch a new child, whose hash is known unless it is a leaf. */
function adopt(branch: Branch, child: Node, nibble: u32): void {
  if (child.kind == LEAF) child.target = 0
  child.parent = changetype<usize>(branch)
  child.nibble = nibble
  store<usize>(linkOf(branch, nibble), changetype<usize>(child))
  layOut(branch)
}

/** Writes the RLP of a branch again, last hash first: hashes move right, so none is overwritten before it moves. */
function layOut(branch: Branch): void {
  let payload: u32 = 17
  for (let nibble: u32 = 0; nibble < 16; nibble++) {
    if (load<usize>(linkOf(branch, nibble)) != 0) payload += HASH_LENGTH
  }
  branch.length = payload + headerSize(payload)
  let at: usize = branch.source + branch.length - 1
  store<u8>(at, 0x80)
  for (let nibble: i32 = 15; nibble >= 0; nibble--) {
    const child = childOf(branch, nibble)
    if (changetype<usize>(child) == 0) {
      store<u8>(--at, 0x80)
      continue
    }
    at -= 33
    if (child.target != 0) memory.copy(at + 1, child.target, HASH_LENGTH)
    store<u8>(at, 0xa0)
    child.target = <u32>(at + 1)
  }
  writeListHeader(branch.source, payload)
  branch.isMoved = 1
  if (branch.states == 0 && branch.length >= <u32>RATE) {
    branch.states = <u32>allocate((BRANCH_LENGTH / RATE) * STATE_LENGTH)
  }
}

@inline
function linkOf(branch: Branch, nibble: u32): usize {
  return changetype<usize>(branch) + offsetof<Branch>('children') + 4 * nibble
}

@inline
function childOf(branch: Branch, nibble: u32): Node {
  return load<Node>(linkOf(branch, nibble))
}

@inline
function tailOf(extension: Extension): u32 {
  return extension.source + extension.length - HASH_LENGTH
}
