// Root of a trie with keys 0, 1, 2 …: transactions, receipts and withdrawals of a header.
import { keccak256, keccakHash } from '../../core/crypto/crypto.ts'
import type { Hash } from '../../core/hex.ts'
import { encodeRlp, type RlpItem } from '../../core/rlp.ts'

/** Keccak-256 of the RLP of the empty string. */
export const EMPTY_TRIE_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

/** RLP(0) in compact form. */
const PATH_OF_ONLY_LEAF = Uint8Array.of(0x20, 0x80)

interface TrieEntry {
  /** One nibble an element. */
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/** Merkle-Patricia trie from RLP(index) to each item (Yellow Paper, appendix D). */
export function orderedTrieRoot(items: readonly Uint8Array[]): Hash {
  const [only] = items
  if (only === undefined) return EMPTY_TRIE_ROOT
  // shortcut for blocks of instant mining
  if (items.length === 1) return keccakHash(encodeRlp([PATH_OF_ONLY_LEAF, only]))
  return keccakHash(encodeRlp(nodeOf(entriesOf(items), 0)))
}

/** From the root to the item's leaf. Nodes under 32 bytes are part of their parent and not listed. */
export function orderedTrieProof(items: readonly Uint8Array[], index: number): Uint8Array[] {
  const path = keyOf(index)
  const nodes: Uint8Array[] = []
  let entries: readonly TrieEntry[] = entriesOf(items)
  let depth = 0
  while (entries.length > 0) {
    const encoded = encodeRlp(nodeOf(entries, depth))
    if (nodes.length === 0 || encoded.length >= 32) nodes.push(encoded)
    if (entries.length === 1) break
    const shared = sharedDigits(entries, depth)
    if (shared > depth) {
      depth = shared
      const branch = encodeRlp(branchOf(entries, depth))
      if (branch.length >= 32) nodes.push(branch)
    }
    const digit = path[depth]
    entries = entries.filter((entry) => entry.path[depth] === digit)
    depth += 1
  }
  return nodes
}

function entriesOf(items: readonly Uint8Array[]): TrieEntry[] {
  return items.map((value, index) => ({ path: keyOf(index), value }))
}

function keyOf(index: number): number[] {
  return digits(encodeRlp(BigInt(index)))
}

function digits(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15])
}

function nodeOf(entries: readonly TrieEntry[], depth: number): RlpItem {
  const [first] = entries
  if (first === undefined) return new Uint8Array(0)
  if (entries.length === 1) return [compactPath(first.path.slice(depth), true), first.value]
  const shared = sharedDigits(entries, depth)
  if (shared > depth)
    return [
      compactPath(first.path.slice(depth, shared), false),
      referenceTo(branchOf(entries, shared)),
    ]
  return branchOf(entries, depth)
}

function branchOf(entries: readonly TrieEntry[], depth: number): RlpItem {
  const children = Array.from({ length: 16 }, (_, digit) => {
    const below = entries.filter(({ path }) => path[depth] === digit)
    return below.length === 0 ? new Uint8Array(0) : referenceTo(nodeOf(below, depth + 1))
  })
  const own = entries.find(({ path }) => path.length === depth)
  return [...children, own?.value ?? new Uint8Array(0)]
}

/** A node shorter than a hash is embedded in its parent. */
function referenceTo(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

function sharedDigits(entries: readonly TrieEntry[], depth: number): number {
  const first = entries[0]?.path ?? []
  let end = depth
  while (end < first.length && entries.every(({ path }) => path[end] === first[end])) end++
  return end
}

/** Hex-prefix encoding: the first nibble marks a leaf (2) or an extension (0), plus 1 for odd length. */
function compactPath(path: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0
  const even = path.length % 2 === 0 ? [flag, 0, ...path] : [flag + 1, ...path]
  return Uint8Array.from(
    { length: even.length / 2 },
    (_, i) => ((even[2 * i] ?? 0) << 4) | (even[2 * i + 1] ?? 0),
  )
}
