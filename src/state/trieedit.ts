// Sets and deletes keys of a trie: copies nodes on their paths, shares all others.
import { nibbleAt } from '../protocol/trienodes.ts'
import {
  type Branch,
  type EditToken,
  type Extension,
  firstDifference,
  KEY_NIBBLES,
  type Leaf,
  makeBranch,
  makeExtension,
  makeFork,
  makeLeaf,
  revealed,
  type TrieNode,
  type WholeNode,
  withNibble,
} from './trienode.ts'

/**
 * Returns `node` itself if nothing changes, or if this batch created it and changes it in place. All ancestors of such a node
 * are of this batch, and not hashed before it ends.
 */
export function insert<V>(
  node: TrieNode<V> | undefined,
  key: Uint8Array,
  value: V,
  depth: number,
  edit: EditToken,
): TrieNode<V> {
  if (node === undefined) return makeLeaf(key, depth, value, edit)
  if (node.kind === 'branch') return insertIntoBranch(node, key, value, depth, edit)
  if (node.kind === 'leaf') return insertAtLeaf(node, key, value, edit)
  if (node.kind === 'blinded') return insert(node.reveal(key, depth), key, value, depth, edit)
  const fork = firstDifference(node.key, key, depth, node.to)
  if (fork === node.to) {
    const child = insertIntoBranch(branchOf(node, key), key, value, node.to, edit)
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

function insertAtLeaf<V>(leaf: Leaf<V>, key: Uint8Array, value: V, edit: EditToken): TrieNode<V> {
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

interface Way<V> {
  readonly key: Uint8Array
  readonly node: TrieNode<V>
}

function forkAt<V>(
  fork: number,
  depth: number,
  one: Way<V>,
  other: Way<V>,
  edit: EditToken,
): TrieNode<V> {
  const children = new Array<TrieNode<V> | undefined>(16).fill(undefined)
  children[nibbleAt(one.key, fork)] = one.node
  children[nibbleAt(other.key, fork)] = other.node
  return makeFork(children, 2, one.key, depth, fork, edit)
}

/** A trie of many keys at once: what `insert` makes of them one by one. Of equal keys the last wins. */
export function build<V>(
  entries: readonly TrieLeafInput<V>[],
  depth: number,
  edit: EditToken,
): TrieNode<V> {
  const first = entries[0]!
  const { key, value } = entries.length === 1 ? first : entries.at(-1)!
  const fork = entries.length === 1 ? KEY_NIBBLES : sharedEnd(entries, depth)
  if (fork === KEY_NIBBLES) return makeLeaf(key, depth, value, edit)
  const below: TrieLeafInput<V>[][] = []
  for (const entry of entries) {
    const nibble = nibbleAt(entry.key, fork)
    const others = below[nibble]
    if (others === undefined) below[nibble] = [entry]
    else others.push(entry)
  }
  const children = new Array<TrieNode<V> | undefined>(16).fill(undefined)
  let count = 0
  below.forEach((some, nibble) => {
    children[nibble] = build(some, fork + 1, edit)
    count += 1
  })
  return makeFork(children, count, key, depth, fork, edit)
}

interface TrieLeafInput<V> {
  readonly key: Uint8Array
  readonly value: V
}

function sharedEnd<V>(entries: readonly TrieLeafInput<V>[], depth: number): number {
  const { key } = entries[0]!
  let end = KEY_NIBBLES
  for (let at = 1; at < entries.length && end > depth; at++) {
    end = firstDifference(key, entries[at]!.key, depth, end)
  }
  return end
}

/** Keeps canonical form; returns `node` itself as `insert` does. */
export function remove<V>(
  node: TrieNode<V> | undefined,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): TrieNode<V> | undefined {
  if (node === undefined) return undefined
  if (node.kind === 'branch') return removeFromBranch(node, key, depth, edit)
  if (node.kind === 'leaf') {
    return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? undefined : node
  }
  if (node.kind === 'blinded') return remove(node.reveal(key, depth), key, depth, edit)
  if (firstDifference(node.key, key, depth, node.to) !== node.to) return node
  const branch = branchOf(node, key)
  const child = removeFromBranch(branch, key, node.to, edit)
  if (child === branch) return node
  return child.kind === 'branch'
    ? withChild(node, child, edit)
    : lengthen(child, child.key, depth, edit)
}

function removeFromBranch<V>(
  branch: Branch<V>,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): WholeNode<V> {
  const nibble = nibbleAt(key, depth)
  const before = branch.children[nibble]
  const after = remove(before, key, depth + 1, edit)
  if (after === before) return branch
  if (after !== undefined || branch.count > 2) return withChildAt(branch, nibble, after, edit)
  const kept = branch.children.findIndex((child, i) => child !== undefined && i !== nibble)
  const beside = withNibble(key, depth, kept)
  return lengthen(revealed(branch.children[kept]!, beside, depth + 1), beside, depth, edit)
}

/**
 * Moves the start of the node's path up to `depth`, after a branch collapsed.
 * @param key any key below the node
 */
function lengthen<V>(
  node: WholeNode<V>,
  key: Uint8Array,
  depth: number,
  edit: EditToken,
): Leaf<V> | Extension<V> {
  switch (node.kind) {
    case 'leaf':
      return makeLeaf(node.key, depth, node.value, edit)
    case 'extension':
      return makeExtension(node.key, depth, node.to, node.child, edit)
    case 'branch':
      return makeExtension(key, depth, depth + 1, node, edit)
  }
}

function branchOf<V>({ child, to }: Extension<V>, key: Uint8Array): Branch<V> {
  const node = revealed(child, key, to)
  if (node.kind === 'branch') return node
  throw new Error('what stands below an extension is no branch')
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
  child: TrieNode<V> | undefined,
  edit: EditToken,
): Branch<V> {
  const fresh =
    branch.edit === edit ? branch : makeBranch(branch.children.slice(), branch.count, edit)
  const before = fresh.children[nibble]
  fresh.children[nibble] = child
  fresh.count += (child === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
  return fresh
}
