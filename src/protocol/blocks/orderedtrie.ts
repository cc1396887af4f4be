// Root of a trie with keys 0, 1, 2 …: transactions, receipts and withdrawals of a header.
import { writeRlp } from '../../core/fastrlp/writer.ts'
import { type Hash, hashFromBytes } from '../../core/hex.ts'
import {
  asBytes,
  asReference,
  branchOf,
  bytesOfReference,
  EXTENSION,
  LEAF,
  nibbleAt,
  pairOf,
  type Reference,
  rootOfReference,
} from '../trienodes.ts'

/** Keccak-256 of the RLP of the empty string. */
export const EMPTY_TRIE_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

/** A growing Merkle-Patricia trie from RLP(index) to each item (Yellow Paper, appendix D). */
export class OrderedTrie {
  readonly #leaves: IndexLeaf[] = []

  push(value: Uint8Array): void {
    addLeaf(this.#leaves, value)
  }

  /** Full branches are hashed once. */
  get root(): Hash {
    return rootOf(this.#leaves)
  }
}

export function orderedTrieRoot(items: readonly Uint8Array[]): Hash {
  return rootOf(leavesOf(items))
}

function rootOf(leaves: readonly IndexLeaf[]): Hash {
  if (leaves.length === 0) return EMPTY_TRIE_ROOT
  return hashFromBytes(
    rootOfReference(referenceTo(leaves, { from: 0, to: leaves.length, depth: 0 })),
  )
}

/** From the root to the item's leaf. Nodes under 32 bytes are part of their parent and not listed. */
export function orderedTrieProof(items: readonly Uint8Array[], index: number): Uint8Array[] {
  const leaves = leavesOf(items)
  const path = keyOf(index)
  const nodes: Uint8Array[] = []
  const list = (encoded: Uint8Array): void => {
    if (nodes.length === 0 || encoded.length >= 32) nodes.push(encoded)
  }
  let range: LeafRange | undefined = { from: 0, to: leaves.length, depth: 0 }
  while (range !== undefined && range.from < range.to) {
    const { key, value } = leaves[range.from]!
    if (range.to - range.from === 1) {
      list(pairOf(asBytes, key, range.depth, 2 * key.length, LEAF, value))
      break
    }
    const depth = sharedEnd(leaves, range)
    const children = childrenOf(leaves, { ...range, depth })
    const references = referencesTo(leaves, children)
    if (depth > range.depth) {
      const below = bytesOfReference(branchOf(asReference, references))
      list(pairOf(asBytes, key, range.depth, depth, EXTENSION, below))
    }
    list(branchOf(asBytes, references))
    range = children[nibbleAt(path, depth)]
  }
  return nodes
}

interface IndexLeaf {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Reference to the full branch of which it is the first leaf. */
  group: Reference | undefined
}

/** Leaves whose keys agree in the nibbles before `depth`. */
type LeafRange = Readonly<Record<'from' | 'to' | 'depth', number>>

function leavesOf(items: readonly Uint8Array[]): IndexLeaf[] {
  const leaves: IndexLeaf[] = []
  for (const item of items) addLeaf(leaves, item)
  return leaves
}

/** Sorted by key: RLP(0) is 0x80, after those of one smaller byte. No key is a prefix of another. */
function addLeaf(leaves: IndexLeaf[], value: Uint8Array): void {
  const index = leaves.length
  const leaf = { key: keyOf(index), value, group: undefined }
  if (index === 0 || index > 127) leaves.push(leaf)
  else leaves.splice(index - 1, 0, leaf)
}

function keyOf(index: number): Uint8Array {
  return writeRlp(BigInt(index))
}

function referenceTo(leaves: readonly IndexLeaf[], range: LeafRange): Reference {
  const first = leaves[range.from]!
  const { key, value } = first
  if (range.to - range.from === 1) {
    return pairOf(asReference, key, range.depth, 2 * key.length, LEAF, value)
  }
  if (isFull(leaves, range)) {
    first.group ??= branchTo(leaves, range)
    return first.group
  }
  const depth = sharedEnd(leaves, range)
  const branch = branchTo(leaves, { ...range, depth })
  if (depth === range.depth) return branch
  return pairOf(asReference, key, range.depth, depth, EXTENSION, bytesOfReference(branch))
}

/** A branch has no value, as no key ends at it. */
function branchTo(leaves: readonly IndexLeaf[], range: LeafRange): Reference {
  return branchOf(asReference, referencesTo(leaves, childrenOf(leaves, range)))
}

function referencesTo(
  leaves: readonly IndexLeaf[],
  children: readonly (LeafRange | undefined)[],
): (Reference | undefined)[] {
  return children.map((child) => child && referenceTo(leaves, child))
}

/** By the nibble at the range's depth. */
function childrenOf(leaves: readonly IndexLeaf[], { from, to, depth }: LeafRange): LeafRange[] {
  const children: LeafRange[] = []
  for (let start = from; start < to; ) {
    const nibble = nibbleAt(leaves[start]!.key, depth)
    let end = start + 1
    while (end < to && nibbleAt(leaves[end]!.key, depth) === nibble) end += 1
    children[nibble] = { from: start, to: end, depth: depth + 1 }
    start = end
  }
  return children
}

/** Of one leaf for each last nibble. No later item changes it. */
function isFull(leaves: readonly IndexLeaf[], { from, to, depth }: LeafRange): boolean {
  return to - from === 16 && depth === 2 * leaves[from]!.key.length - 1
}

/** As they are sorted, what the first and the last share is shared by all. */
function sharedEnd(leaves: readonly IndexLeaf[], { from, to, depth }: LeafRange): number {
  const first = leaves[from]!.key
  const last = leaves[to - 1]!.key
  let end = depth
  while (end < 2 * first.length && nibbleAt(first, end) === nibbleAt(last, end)) end += 1
  return end
}
