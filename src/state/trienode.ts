// Nodes of the Merkle-Patricia trie of the state, which remember their hashes.
import { type Digest, readDigest } from '../core/crypto/keccak.ts'
import { bytesFromHex } from '../core/hex.ts'
import { EMPTY_TRIE_ROOT } from '../protocol/blocks/orderedtrie.ts'
import {
  asBytes,
  asReference,
  branchOf,
  bytesOfReference,
  EXTENSION,
  LEAF,
  type NodeForm,
  nibbleAt,
  type Page,
  pairOf,
  type Reference,
  rootOfReference,
  writePair,
} from '../protocol/trienodes.ts'

export const EMPTY_ROOT_BYTES: Uint8Array = bytesFromHex(EMPTY_TRIE_ROOT)

export const KEY_NIBBLES = 64

/** Identifies a batch of changes. Nodes created in it are mutable until it ends. A class, as each `{}` takes 56 bytes. */
export class EditToken {}

export type EncodeValue<V> = (value: V) => Uint8Array

/** A node with a cached reference is immutable. */
interface Hashed {
  readonly edit: EditToken
  reference: Reference | undefined
}

export interface Leaf<V> extends Hashed {
  readonly kind: 'leaf'
  readonly key: Uint8Array
  readonly depth: number
  value: V
}

/** Has two or more children. As all keys have 32 bytes, it holds no value. */
export interface Branch<V> extends Hashed {
  readonly kind: 'branch'
  readonly children: (TrieNode<V> | undefined)[]
  count: number
}

/** The shared, non-empty path [from, to) in nibbles of `key`. Its child is always a branch. */
export interface Extension<V> extends Hashed {
  readonly kind: 'extension'
  readonly key: Uint8Array
  readonly from: number
  readonly to: number
  child: Branch<V> | Blinded<V>
}

/** A node known by its hash only, read on demand. */
export interface Blinded<V> {
  readonly kind: 'blinded'
  readonly edit: undefined
  readonly reference: Reference
  /**
   * @param key any key below the node; its first `depth` nibbles are the path
   * @throws {MissingState} if it is not known yet
   */
  readonly reveal: (key: Uint8Array, depth: number) => WholeNode<V>
  readonly isKnown: () => boolean
  /** Reveals the node without a key, if all keys below it are known. */
  readonly whole?: () => WholeNode<V>
}

export type WholeNode<V> = Leaf<V> | Branch<V> | Extension<V>

export type TrieNode<V> = WholeNode<V> | Blinded<V>

export function makeLeaf<V>(key: Uint8Array, depth: number, value: V, edit: EditToken): Leaf<V> {
  return { kind: 'leaf', edit, reference: undefined, key, depth, value }
}

export function makeBranch<V>(
  children: (TrieNode<V> | undefined)[],
  count: number,
  edit: EditToken,
): Branch<V> {
  return { kind: 'branch', edit, reference: undefined, children, count }
}

export function makeExtension<V>(
  key: Uint8Array,
  from: number,
  to: number,
  child: Branch<V> | Blinded<V>,
  edit: EditToken,
): Extension<V> {
  return { kind: 'extension', edit, reference: undefined, key, from, to, child }
}

/** A branch where keys differ first, below an extension if they share nibbles from `depth` on. */
export function makeFork<V>(
  children: (TrieNode<V> | undefined)[],
  count: number,
  key: Uint8Array,
  depth: number,
  fork: number,
  edit: EditToken,
): Branch<V> | Extension<V> {
  const branch = makeBranch(children, count, edit)
  return fork > depth ? makeExtension(key, depth, fork, branch, edit) : branch
}

export function revealed<V>(node: TrieNode<V>, key: Uint8Array, depth: number): WholeNode<V> {
  return node.kind === 'blinded' ? node.reveal(key, depth) : node
}

export function setNibble(key: Uint8Array, index: number, nibble: number): void {
  const byte = key[index >> 1]!
  key[index >> 1] = (index & 1) === 0 ? (nibble << 4) | (byte & 15) : (byte & 0xf0) | nibble
}

export function withNibble(key: Uint8Array, index: number, nibble: number): Uint8Array {
  const changed = key.slice()
  setNibble(changed, index, nibble)
  return changed
}

/** The first index in [from, to) at which the nibbles differ, or `to`. */
export function firstDifference(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  if ((from & 1) === 1 && from < to && nibbleAt(a, from) !== nibbleAt(b, from)) return from
  // whole bytes first: a leaf has about sixty nibbles
  let byte = (from + 1) >> 1
  const end = to >> 1
  while (byte < end && a[byte] === b[byte]) byte += 1
  let index = Math.max(from, 2 * byte)
  while (index < to && nibbleAt(a, index) === nibbleAt(b, index)) index += 1
  return index
}

export function rootBytesOf<V>(
  root: TrieNode<V> | undefined,
  encodeValue: EncodeValue<V>,
): Uint8Array {
  if (root === undefined) return EMPTY_ROOT_BYTES
  return rootOfReference(referenceOf(root, encodeValue))
}

export function referenceOf<V>(node: TrieNode<V>, encodeValue: EncodeValue<V>): Reference {
  if (node.kind === 'blinded') return node.reference
  node.reference ??= nodeOf(asReference, node, encodeValue)
  return node.reference
}

export function encodeNode<V>(node: WholeNode<V>, encodeValue: EncodeValue<V>): Uint8Array {
  return nodeOf(asBytes, node, encodeValue)
}

function nodeOf<T, V>(form: NodeForm<T>, node: WholeNode<V>, encodeValue: EncodeValue<V>): T {
  if (node.kind === 'branch') return branchOf(form, childrenOf(node, encodeValue))
  if (node.kind === 'leaf') {
    return pairOf(form, node.key, node.depth, KEY_NIBBLES, LEAF, encodeValue(node.value))
  }
  const child = bytesOfReference(referenceOf(node.child, encodeValue))
  return pairOf(form, node.key, node.from, node.to, EXTENSION, child)
}

/** Shared, as it is read before the next call. */
const references: (Reference | undefined)[] = new Array(16).fill(undefined)

function childrenOf<V>(
  { children }: Branch<V>,
  encodeValue: EncodeValue<V>,
): readonly (Reference | undefined)[] {
  // first all are hashed, which uses the list for the branches below
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children[nibble]
    if (child !== undefined) referenceOf(child, encodeValue)
  }
  for (let nibble = 0; nibble < 16; nibble++) references[nibble] = children[nibble]?.reference
  return references
}

export function digestOf(hash: Uint8Array): Digest {
  return readDigest(new DataView(hash.buffer, hash.byteOffset), 0)
}

/** Writes the RLP of a leaf at the start of the page and returns its end. */
export function writeLeaf(page: Page, key: Uint8Array, depth: number, content: Uint8Array): number {
  return writePair(page, key, depth, KEY_NIBBLES, LEAF, content)
}
