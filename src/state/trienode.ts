// Nodes of the Merkle-Patricia trie: their shapes, and how they are encoded and hashed (Yellow Paper, appendix D).
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

/** Keccak-256 of the RLP of nothing: the root of a trie without keys. */
export const EMPTY_ROOT: Hash =
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash

export const EMPTY_ROOT_BYTES: Uint8Array = bytesFromHex(EMPTY_ROOT)

/** Nibbles in a 32-byte key. */
export const KEY_NIBBLES = 64

/** Stands for one batch of changes; nodes made in it may be changed in place until it ends. */
export type EditToken = object

/** How a value becomes bytes in its leaf: already RLP. */
export type EncodeValue<V> = (value: V) => Uint8Array

/** What a parent holds of a node: the Keccak-256 of its RLP, or the RLP itself when that is shorter than 32 bytes. */
export type Reference = Digest | Uint8Array

/** What every node has. Its reference is made when first asked for; a node that has one never changes again. */
interface Hashed {
  readonly edit: EditToken
  reference: Reference | undefined
}

/** The end of a path: the nibbles of `key` from `depth` on, and a value. */
export interface Leaf<V> extends Hashed {
  readonly kind: 'leaf'
  readonly key: Uint8Array
  readonly depth: number
  value: V
}

/** Two children or more, by nibble. All keys are 32 bytes long, so that no branch holds a value. */
export interface Branch<V> extends Hashed {
  readonly kind: 'branch'
  readonly children: (Node<V> | undefined)[]
  count: number
}

/** A path that all below share: the nibbles [from, to) of `key`, never none. What follows is always a branch. */
export interface Extension<V> extends Hashed {
  readonly kind: 'extension'
  readonly key: Uint8Array
  readonly from: number
  readonly to: number
  child: Branch<V> | Blinded<V>
}

/** A node of which only the hash is here: what it is is read when somebody needs it. */
export interface Blinded<V> {
  readonly kind: 'blinded'
  readonly edit: undefined
  readonly reference: Digest
  /**
   * The node itself.
   * @param key one below it, as far as its first `depth` nibbles go
   * @throws {MissingState} when it is not known yet
   */
  readonly reveal: (key: Uint8Array, depth: number) => WholeNode<V>
  /** True once it was revealed. */
  readonly isKnown: () => boolean
}

/** A node that is here. */
export type WholeNode<V> = Leaf<V> | Branch<V> | Extension<V>

export type Node<V> = WholeNode<V> | Blinded<V>

export function makeLeaf<V>(key: Uint8Array, depth: number, value: V, edit: EditToken): Leaf<V> {
  return { kind: 'leaf', edit, reference: undefined, key, depth, value }
}

export function makeBranch<V>(
  children: (Node<V> | undefined)[],
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

/** The node itself, where only its hash may be here. @throws {MissingState} as `reveal` */
export function revealed<V>(node: Node<V>, key: Uint8Array, depth: number): WholeNode<V> {
  return node.kind === 'blinded' ? node.reveal(key, depth) : node
}

/** The nibble of `key` at `index`, 0 to 15; the higher half of a byte comes first. */
export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
}

/** Sets a nibble of `key`, in place. */
export function setNibble(key: Uint8Array, index: number, nibble: number): void {
  const byte = key[index >> 1]!
  key[index >> 1] = (index & 1) === 0 ? (nibble << 4) | (byte & 15) : (byte & 0xf0) | nibble
}

/** The key with another nibble at `index`. */
export function withNibble(key: Uint8Array, index: number, nibble: number): Uint8Array {
  const changed = key.slice()
  setNibble(changed, index, nibble)
  return changed
}

/** The first index in [from, to) where the nibbles of the keys differ; `to` when none does. */
export function firstDifference(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  if ((from & 1) === 1 && from < to && nibbleAt(a, from) !== nibbleAt(b, from)) return from
  // whole bytes: a leaf has some sixty nibbles to compare
  let byte = (from + 1) >> 1
  const end = to >> 1
  while (byte < end && a[byte] === b[byte]) byte += 1
  let index = Math.max(from, 2 * byte)
  while (index < to && nibbleAt(a, index) === nibbleAt(b, index)) index += 1
  return index
}

/** Bytes to write to, seen in two ways. */
type Page = Pick<Desk, 'bytes' | 'view'>

const HASH_LENGTH = 32

/** Bytes of RLP that a leaf or an extension has besides its content, at most: headers and path. */
const PAIR_OVERHEAD = 64

/** Bytes of the longest branch. */
const BRANCH_LENGTH = 3 + 16 * (1 + HASH_LENGTH) + 1

// nodes are hashed where they are written: to make their bytes first took as long as to hash them
const desk = new Desk()

/** The 32-byte hash of a trie's root node: hashed even when its RLP is short. */
export function rootReference<V>(root: Node<V>, encodeValue: EncodeValue<V>): Uint8Array {
  const reference = referenceOf(root, encodeValue)
  return isShort(reference) ? keccak256(reference) : bytesOfDigest(reference)
}

/** What a parent holds of the node. */
export function referenceOf<V>(node: Node<V>, encodeValue: EncodeValue<V>): Reference {
  if (node.kind === 'blinded') return node.reference
  node.reference ??=
    node.kind === 'branch' ? hashBranch(node, encodeValue) : hashPair(node, encodeValue)
  return node.reference
}

/** True for the RLP of a node that stands in its parent. */
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

/** The RLP of a leaf: the nibbles of `key` from `depth` on, and a value that is RLP already. */
export function encodeLeaf(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  const page = pageFor(value.length + PAIR_OVERHEAD)
  return page.bytes.slice(0, writePair(page, key, depth, KEY_NIBBLES, LEAF_FLAG, value))
}

/** The RLP of an extension, which ends with the reference to its child: a hash, or RLP. */
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

/** What stands behind a path: the RLP of a value, or a reference. */
function contentOf<V>(node: Leaf<V> | Extension<V>, encodeValue: EncodeValue<V>): Uint8Array {
  if (node.kind === 'leaf') return encodeValue(node.value)
  const reference = referenceOf(node.child, encodeValue)
  return isShort(reference) ? reference : bytesOfDigest(reference)
}

/** Room for a node that nothing else is written to before it is read. */
function pageFor(length: number): Page {
  return length <= DESK_LENGTH ? desk : pageOf(length)
}

function pageOf(length: number): Page {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** A hash of 32 bytes as eight numbers. */
export function digestOf(hash: Uint8Array): Digest {
  return readDigest(new DataView(hash.buffer, hash.byteOffset), 0)
}

/** Marks a path as a leaf's, in the first nibble of its compact form. */
const LEAF_FLAG = 0x20

/** Marks a path with an odd number of nibbles; the first of them shares the byte of the flags. */
const ODD_FLAG = 0x10

/** Writes the RLP of `[path, content]`, a leaf (a value as a byte string) or an extension (a reference); returns its end. */
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

/** Writes the RLP of the seventeen items of a branch, the last of them empty; returns its end. */
function writeBranch<V>(
  { bytes, view }: Page,
  { children }: Branch<V>,
  encodeValue: EncodeValue<V>,
): number {
  let size = 1
  // references first: to make them needs the same page
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

/** Writes the nibbles [from, to) in their compact form: flags first, then whole bytes. */
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
  // the rest are pairs of nibbles: whole bytes of the key, or the halves of two
  if ((index & 1) === 0) {
    for (; index < to; index += 2) out[at++] = key[index >> 1]!
  } else {
    for (; index < to; index += 2) {
      out[at++] = ((key[index >> 1]! & 15) << 4) | (key[(index + 1) >> 1]! >> 4)
    }
  }
  return at
}

/** Bytes that a reference takes: a hash is a byte string, and what is shorter stands as it is. */
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

/** Bytes of the RLP header of a payload; a size below 2^32 is all that an array can have. */
function headerSize(size: number): number {
  return size < 56 ? 1 : 1 + sizeBytes(size)
}

/** Writes the header of a string (base 0x80) or a list (base 0xc0). */
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
