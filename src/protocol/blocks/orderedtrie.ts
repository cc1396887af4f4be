// Root of a trie with keys 0, 1, 2 …: transactions, receipts and withdrawals of a header.
import { keccak256, keccakHash } from '../../core/crypto/crypto.ts'
import { EMPTY_BYTES, type Hash } from '../../core/hex.ts'
import { encodeRlp, type RlpItem } from '../../core/rlp.ts'

/** Keccak-256 of the RLP of the empty string. */
export const EMPTY_TRIE_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

/** A growing Merkle-Patricia trie from RLP(index) to each item (Yellow Paper, appendix D). */
export class OrderedTrie {
  readonly #leaves: IndexLeaf[] = []

  push(value: Uint8Array): void {
    const index = this.#leaves.length
    const leaf = { key: keyOf(index), value, group: undefined }
    if (index === 0 || index > 127) this.#leaves.push(leaf)
    else this.#leaves.splice(index - 1, 0, leaf)
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
  return keccakHash(encodeRlp(nodeOf(leaves, { from: 0, to: leaves.length, depth: 0 })))
}

/** From the root to the item's leaf. Nodes under 32 bytes are part of their parent and not listed. */
export function orderedTrieProof(items: readonly Uint8Array[], index: number): Uint8Array[] {
  const leaves = leavesOf(items)
  const path = keyOf(index)
  const nodes: Uint8Array[] = []
  const list = (node: RlpItem): void => {
    const encoded = encodeRlp(node)
    if (nodes.length === 0 || encoded.length >= 32) nodes.push(encoded)
  }
  let range: LeafRange | undefined = { from: 0, to: leaves.length, depth: 0 }
  while (range !== undefined && range.from < range.to) {
    list(nodeOf(leaves, range))
    if (range.to - range.from === 1) break
    const depth = sharedEnd(leaves, range)
    if (depth > range.depth) list(branchOf(leaves, { ...range, depth }))
    range = childrenOf(leaves, { ...range, depth })[nibbleAt(path, depth)]
  }
  return nodes
}

interface IndexLeaf {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Reference to the full branch of which it is the first leaf. */
  group: RlpItem | undefined
}

/** Leaves whose keys agree in the nibbles before `depth`. */
interface LeafRange {
  readonly from: number
  readonly to: number
  readonly depth: number
}

/** Sorted by key: RLP(0) is 0x80, after those of one smaller byte. No key is a prefix of another. */
function leavesOf(items: readonly Uint8Array[]): IndexLeaf[] {
  const leaves: IndexLeaf[] = items.map((value, index) => ({
    key: keyOf(index),
    value,
    group: undefined,
  }))
  leaves.splice(127, 0, ...leaves.splice(0, 1))
  return leaves
}

function keyOf(index: number): Uint8Array {
  return encodeRlp(BigInt(index))
}

function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
}

function nodeOf(leaves: readonly IndexLeaf[], range: LeafRange): RlpItem {
  const { from, to, depth } = range
  const { key, value } = leaves[from]!
  if (to - from === 1) return [compactPath(key, depth, 2 * key.length, LEAF), value]
  const end = sharedEnd(leaves, range)
  if (end === depth) return branchOf(leaves, range)
  return [compactPath(key, depth, end, 0), referenceTo(leaves, { ...range, depth: end })]
}

/** A branch has no value, as no key ends at it. */
function branchOf(leaves: readonly IndexLeaf[], range: LeafRange): RlpItem {
  const children: RlpItem[] = new Array(17).fill(EMPTY_BYTES)
  childrenOf(leaves, range).forEach((child, nibble) => {
    children[nibble] = referenceTo(leaves, child)
  })
  return children
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

/** A node shorter than a hash is embedded in its parent. */
function referenceTo(leaves: readonly IndexLeaf[], range: LeafRange): RlpItem {
  const first = leaves[range.from]!
  const isKept = isFull(leaves, range)
  if (isKept && first.group !== undefined) return first.group
  const node = nodeOf(leaves, range)
  const encoded = encodeRlp(node)
  const reference = encoded.length < 32 ? node : keccak256(encoded)
  if (isKept) first.group = reference
  return reference
}

/** As they are sorted, what the first and the last share is shared by all. */
function sharedEnd(leaves: readonly IndexLeaf[], { from, to, depth }: LeafRange): number {
  const first = leaves[from]!.key
  const last = leaves[to - 1]!.key
  let end = depth
  while (end < 2 * first.length && nibbleAt(first, end) === nibbleAt(last, end)) end += 1
  return end
}

const LEAF = 2

/** Hex-prefix encoding: a nibble of flags, plus 1 for an odd length. */
function compactPath(key: Uint8Array, from: number, to: number, flags: number): Uint8Array {
  const path = new Uint8Array(((to - from) >> 1) + 1)
  const isOdd = (to - from) % 2 === 1
  path[0] = (isOdd ? flags + 1 : flags) << 4
  for (let index = from, at = isOdd ? 1 : 2; index < to; index++, at++) {
    path[at >> 1]! |= nibbleAt(key, index) << (at % 2 === 0 ? 4 : 0)
  }
  return path
}
