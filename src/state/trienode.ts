// Nodes of the Merkle-Patricia trie, and their encoding and hashes (Yellow Paper, appendix D).
import {
  bytesOfDigest,
  DESK_LENGTH,
  Desk,
  type Digest,
  keccak256,
  readDigest,
  writeDigest,
} from '../core/crypto/keccak.ts'
import { bytesFromHex, type Hash } from '../core/hex.ts'

/** Keccak-256 of the RLP of an empty string. */
export const EMPTY_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

export const EMPTY_ROOT_BYTES: Uint8Array = bytesFromHex(EMPTY_ROOT)

export const KEY_NIBBLES = 64

/** Identifies a batch of changes. Nodes created in it are mutable until it ends. */
export type EditToken = object

export type EncodeValue<V> = (value: V) => Uint8Array

/** A parent refers to a node by the Keccak-256 of its RLP, or embeds the RLP if it is below 32 bytes. */
export type Reference = Digest | Uint8Array

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
  readonly reference: Digest
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

export function revealed<V>(node: TrieNode<V>, key: Uint8Array, depth: number): WholeNode<V> {
  return node.kind === 'blinded' ? node.reveal(key, depth) : node
}

export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
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

/** A buffer to write a node into. */
export type Page = Pick<Desk, 'bytes' | 'view'>

const HASH_LENGTH = 32

/** Most bytes of a leaf or extension besides its content: headers and path. */
const PAIR_OVERHEAD = 64

const BRANCH_LENGTH = 3 + 16 * (1 + HASH_LENGTH) + 1

// nodes are encoded where they are hashed: a separate buffer doubled the time
const desk = new Desk()

export function rootReference<V>(root: TrieNode<V>, encodeValue: EncodeValue<V>): Uint8Array {
  const reference = referenceOf(root, encodeValue)
  return isShort(reference) ? keccak256(reference) : bytesOfDigest(reference)
}

export function referenceOf<V>(node: TrieNode<V>, encodeValue: EncodeValue<V>): Reference {
  if (node.kind === 'blinded') return node.reference
  node.reference ??=
    node.kind === 'branch' ? hashBranch(node, encodeValue) : hashPair(node, encodeValue)
  return node.reference
}

export function isShort(reference: Reference): reference is Uint8Array {
  return reference instanceof Uint8Array
}

export function encodeNode<V>(node: WholeNode<V>, encodeValue: EncodeValue<V>): Uint8Array {
  if (node.kind === 'branch') {
    const page = pageOf(BRANCH_LENGTH)
    return page.bytes.slice(0, writeBranch(page, node, encodeValue))
  }
  const content = contentOf(node, encodeValue)
  return node.kind === 'leaf'
    ? encodeLeaf(node.key, node.depth, content)
    : encodeExtension(node, content)
}

/** The path is the nibbles of `key` from `depth`; the value is RLP. */
export function encodeLeaf(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  const page = pageFor(value.length + PAIR_OVERHEAD)
  return page.bytes.slice(0, writePair(page, key, depth, KEY_NIBBLES, LEAF_FLAG, value))
}

export function encodeExtension(
  { key, from, to }: { readonly key: Uint8Array; readonly from: number; readonly to: number },
  child: Uint8Array,
): Uint8Array {
  const page = pageFor(child.length + PAIR_OVERHEAD)
  return page.bytes.slice(0, writePair(page, key, from, to, 0, child))
}

function hashBranch<V>(branch: Branch<V>, encodeValue: EncodeValue<V>): Reference {
  const length = writeBranch(desk, branch, encodeValue)
  return length < HASH_LENGTH ? desk.bytes.slice(0, length) : desk.hash(length)
}

function hashPair<V>(node: Leaf<V> | Extension<V>, encodeValue: EncodeValue<V>): Reference {
  const content = contentOf(node, encodeValue)
  const page = pageFor(content.length + PAIR_OVERHEAD)
  const length =
    node.kind === 'leaf'
      ? writePair(page, node.key, node.depth, KEY_NIBBLES, LEAF_FLAG, content)
      : writePair(page, node.key, node.from, node.to, 0, content)
  if (length < HASH_LENGTH) return page.bytes.slice(0, length)
  return page === desk ? desk.hash(length) : digestOf(keccak256(page.bytes.subarray(0, length)))
}

function contentOf<V>(node: Leaf<V> | Extension<V>, encodeValue: EncodeValue<V>): Uint8Array {
  if (node.kind === 'leaf') return encodeValue(node.value)
  const reference = referenceOf(node.child, encodeValue)
  return isShort(reference) ? reference : bytesOfDigest(reference)
}

/** A buffer that must be read before the next node is written. */
function pageFor(length: number): Page {
  return length <= DESK_LENGTH ? desk : pageOf(length)
}

function pageOf(length: number): Page {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

export function digestOf(hash: Uint8Array): Digest {
  return readDigest(new DataView(hash.buffer, hash.byteOffset), 0)
}

const LEAF_FLAG = 0x20

/** The flag of an odd number of nibbles; the first one shares the byte of the flags. */
const ODD_FLAG = 0x10

/** Writes the RLP of a leaf at the start of the page and returns its end. */
export function writeLeaf(page: Page, key: Uint8Array, depth: number, content: Uint8Array): number {
  return writePair(page, key, depth, KEY_NIBBLES, LEAF_FLAG, content)
}

/** Writes the RLP of `[path, content]` and returns its end. A leaf's content is a byte string, an extension's a reference. */
function writePair(
  { bytes }: Page,
  key: Uint8Array,
  from: number,
  to: number,
  flag: number,
  content: Uint8Array,
): number {
  const pathLength = ((to - from) >> 1) + 1
  // a one-byte path is below 0x80, and so its own RLP
  const pathSize = pathLength === 1 ? 1 : 1 + pathLength
  const isReference = flag !== LEAF_FLAG
  const contentSize = isReference ? referenceSize(content) : stringSize(content)
  let at = writeHeader(bytes, 0, 0xc0, pathSize + contentSize)
  if (pathLength > 1) bytes[at++] = 0x80 + pathLength
  at = writePath(bytes, at, key, from, to, flag)
  if (isReference && content.length === HASH_LENGTH) bytes[at++] = 0xa0
  if (!isReference) at = writeStringHeader(bytes, at, content)
  bytes.set(content, at)
  return at + content.length
}

/** The last of the 17 items is empty. Returns the end. */
function writeBranch<V>(
  { bytes, view }: Page,
  { children }: Branch<V>,
  encodeValue: EncodeValue<V>,
): number {
  let size = 1
  // references first: computing them uses the same buffer
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children[nibble]
    size += child === undefined ? 1 : referenceSize(referenceOf(child, encodeValue))
  }
  let at = writeHeader(bytes, 0, 0xc0, size)
  for (let nibble = 0; nibble < 16; nibble++) {
    const reference = children[nibble]?.reference
    if (reference === undefined) {
      bytes[at++] = 0x80
    } else if (isShort(reference)) {
      bytes.set(reference, at)
      at += reference.length
    } else {
      bytes[at++] = 0xa0
      writeDigest(view, at, reference)
      at += HASH_LENGTH
    }
  }
  bytes[at] = 0x80
  return at + 1
}

/** Hex-prefix encoding: flags first, then whole bytes. */
function writePath(
  out: Uint8Array,
  start: number,
  key: Uint8Array,
  from: number,
  to: number,
  flag: number,
): number {
  let at = start
  let index = from
  if (((to - from) & 1) === 1) {
    out[at++] = flag | ODD_FLAG | nibbleAt(key, index)
    index += 1
  } else {
    out[at++] = flag
  }
  if ((index & 1) === 0) {
    for (; index < to; index += 2) out[at++] = key[index >> 1]!
  } else {
    for (; index < to; index += 2) {
      out[at++] = ((key[index >> 1]! & 15) << 4) | (key[(index + 1) >> 1]! >> 4)
    }
  }
  return at
}

/** A hash takes a header; an embedded node does not. */
function referenceSize(reference: Reference): number {
  if (!isShort(reference) || reference.length === HASH_LENGTH) return 1 + HASH_LENGTH
  return reference.length
}

function stringSize(bytes: Uint8Array): number {
  if (bytes.length === 1 && bytes[0]! < 0x80) return 1
  return headerSize(bytes.length) + bytes.length
}

function writeStringHeader(out: Uint8Array, start: number, bytes: Uint8Array): number {
  const isBare = bytes.length === 1 && bytes[0]! < 0x80
  return isBare ? start : writeHeader(out, start, 0x80, bytes.length)
}

function headerSize(size: number): number {
  return size < 56 ? 1 : 1 + sizeBytes(size)
}

function writeHeader(out: Uint8Array, start: number, base: number, size: number): number {
  if (size < 56) {
    out[start] = base + size
    return start + 1
  }
  const length = sizeBytes(size)
  out[start] = base + 55 + length
  for (let i = 0; i < length; i++) out[start + 1 + i] = size >>> (8 * (length - 1 - i))
  return start + 1 + length
}

function sizeBytes(size: number): number {
  return Math.ceil((32 - Math.clz32(size)) / 8)
}
