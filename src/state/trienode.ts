// Nodes of the Merkle-Patricia trie: their shapes, and how they are encoded and hashed (Yellow Paper, appendix D).
import { keccak256 } from '../core/crypto.ts'

/** Nibbles in a 32-byte key. */
export const KEY_NIBBLES = 64

/** Stands for one batch of changes; nodes made in it may be changed in place until it ends. */
export type EditToken = object

/** How a value becomes bytes in its leaf: already RLP. */
export type EncodeValue<V> = (value: V) => Uint8Array

/**
 * What every node has. `reference` is what its parent holds: the Keccak-256 of its RLP, or the RLP itself when that
 * is shorter than 32 bytes. It is computed when first asked for; a node that has one never changes again.
 */
interface Hashed {
  readonly edit: EditToken
  reference: Uint8Array | undefined
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
  child: Branch<V>
}

export type Node<V> = Leaf<V> | Branch<V> | Extension<V>

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
  child: Branch<V>,
  edit: EditToken,
): Extension<V> {
  return { kind: 'extension', edit, reference: undefined, key, from, to, child }
}

/** The nibble of `key` at `index`, 0 to 15; the higher half of a byte comes first. */
export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
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

/** The 32-byte hash of a trie's root node: hashed even when its RLP is short. */
export function rootReference<V>(root: Node<V>, encodeValue: EncodeValue<V>): Uint8Array {
  const reference = referenceOf(root, encodeValue)
  return reference.length === 32 ? reference : keccak256(reference)
}

/** What a parent holds of the node. Short RLP is never 32 bytes long, so that the length tells the two apart. */
export function referenceOf<V>(node: Node<V>, encodeValue: EncodeValue<V>): Uint8Array {
  if (node.reference !== undefined) return node.reference
  const encoded = encodeNode(node, encodeValue)
  node.reference = encoded.length < 32 ? encoded : keccak256(encoded)
  return node.reference
}

/** The RLP of a node. */
export function encodeNode<V>(node: Node<V>, encodeValue: EncodeValue<V>): Uint8Array {
  switch (node.kind) {
    case 'leaf':
      return encodeLeaf(node.key, node.depth, encodeValue(node.value))
    case 'extension':
      return encodeExtension(node, referenceOf(node.child, encodeValue))
    case 'branch':
      return encodeBranch(node, encodeValue)
  }
}

/** The RLP of a leaf: the nibbles of `key` from `depth` on, and a value that is RLP already. */
export function encodeLeaf(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  return encodePair(key, depth, KEY_NIBBLES, LEAF_FLAG, value)
}

/** The RLP of an extension, which ends with the reference to its child. */
export function encodeExtension(
  { key, from, to }: { readonly key: Uint8Array; readonly from: number; readonly to: number },
  child: Uint8Array,
): Uint8Array {
  return encodePair(key, from, to, 0, child)
}

/** Marks a path as a leaf's, in the first nibble of its compact form. */
const LEAF_FLAG = 0x20

/** Marks a path with an odd number of nibbles; the first of them shares the byte of the flags. */
const ODD_FLAG = 0x10

/** RLP of `[path, content]`: a leaf (a value as a byte string) or an extension (a reference). */
function encodePair(
  key: Uint8Array,
  from: number,
  to: number,
  flag: number,
  content: Uint8Array,
): Uint8Array {
  const pathLength = ((to - from) >> 1) + 1
  // a one-byte path is below 0x80, and so its own RLP
  const pathSize = pathLength === 1 ? 1 : 1 + pathLength
  const contentSize = flag === LEAF_FLAG ? stringSize(content) : referenceSize(content)
  const size = pathSize + contentSize
  const out = new Uint8Array(headerSize(size) + size)
  let at = writeHeader(out, 0, 0xc0, size)
  if (pathLength > 1) out[at++] = 0x80 + pathLength
  at = writePath(out, at, key, from, to, flag)
  if (flag === LEAF_FLAG) writeString(out, at, content)
  else writeReference(out, at, content)
  return out
}

/** RLP of the seventeen items of a branch, the last of them empty. */
function encodeBranch<V>(branch: Branch<V>, encodeValue: EncodeValue<V>): Uint8Array {
  let size = 1
  for (const child of branch.children) {
    size += child === undefined ? 1 : referenceSize(referenceOf(child, encodeValue))
  }
  const out = new Uint8Array(headerSize(size) + size)
  let at = writeHeader(out, 0, 0xc0, size)
  for (const child of branch.children) {
    if (child === undefined) out[at++] = 0x80
    else at = writeReference(out, at, referenceOf(child, encodeValue))
  }
  out[at] = 0x80
  return out
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
  for (; index < to; index += 2) out[at++] = (nibbleAt(key, index) << 4) | nibbleAt(key, index + 1)
  return at
}

function referenceSize(reference: Uint8Array): number {
  return reference.length === 32 ? 33 : reference.length
}

function writeReference(out: Uint8Array, start: number, reference: Uint8Array): number {
  let at = start
  if (reference.length === 32) out[at++] = 0xa0
  out.set(reference, at)
  return at + reference.length
}

function stringSize(bytes: Uint8Array): number {
  if (bytes.length === 1 && bytes[0]! < 0x80) return 1
  return headerSize(bytes.length) + bytes.length
}

function writeString(out: Uint8Array, start: number, bytes: Uint8Array): void {
  const bare = bytes.length === 1 && bytes[0]! < 0x80
  out.set(bytes, bare ? start : writeHeader(out, start, 0x80, bytes.length))
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
