// Encodings and hashes of the nodes of Merkle-Patricia tries (Yellow Paper, appendix D).
import {
  bytesOfDigest,
  DESK_LENGTH,
  Desk,
  type Digest,
  keccak256,
  readDigest,
  writeDigest,
} from '../core/crypto/keccak.ts'
import { stringSize, writeHead, writeString } from '../core/fastrlp/writer.ts'

/** A parent refers to a node by the Keccak-256 of its RLP, or embeds the RLP if it is below 32 bytes. */
export type Reference = Digest | Uint8Array

/** A buffer to write a node into. */
export type Page = Pick<Desk, 'bytes' | 'view'>

/** Flags of a path. */
export const LEAF = 0x20
export const EXTENSION = 0

/** The flag of an odd number of nibbles; the first one shares the byte of the flags. */
const ODD = 0x10

const HASH_LENGTH = 32

/** Most bytes of a leaf or extension besides its content: headers and path. */
const PAIR_OVERHEAD = 64

// nodes are encoded where they are hashed: a separate buffer doubled the time
const desk = new Desk()

export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
}

export function isShort(reference: Reference): reference is Uint8Array {
  return reference instanceof Uint8Array
}

export function bytesOfReference(reference: Reference): Uint8Array {
  return isShort(reference) ? reference : bytesOfDigest(reference)
}

/** Unlike other nodes, the root is hashed at any length. */
export function rootOfReference(root: Reference): Uint8Array {
  return isShort(root) ? keccak256(root) : bytesOfDigest(root)
}

/** What is made of a node that was written at the start of a page. */
export type NodeForm<T> = (page: Page, length: number) => T

export const asBytes: NodeForm<Uint8Array> = ({ bytes }, length) => bytes.slice(0, length)

export const asReference: NodeForm<Reference> = (page, length) => {
  if (length < HASH_LENGTH) return asBytes(page, length)
  if (page === desk) return desk.hash(length)
  return readDigest(new DataView(keccak256(page.bytes.subarray(0, length)).buffer), 0)
}

/** A branch, by the references of its 16 children. */
export function branchOf<T>(form: NodeForm<T>, children: readonly (Reference | undefined)[]): T {
  return form(desk, writeBranch(desk, children))
}

/**
 * A leaf or extension with the nibbles [from, to) of `key`.
 * @param content a leaf's value, or the reference of an extension's child
 */
export function pairOf<T>(
  form: NodeForm<T>,
  key: Uint8Array,
  from: number,
  to: number,
  flag: number,
  content: Uint8Array,
): T {
  const page = pageFor(content.length + PAIR_OVERHEAD)
  return form(page, writePair(page, key, from, to, flag, content))
}

/** A buffer that must be read before the next node is written. */
function pageFor(length: number): Page {
  if (length <= DESK_LENGTH) return desk
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Writes the RLP of `[path, content]` and returns its end. A leaf's content is a byte string, an extension's a reference. */
export function writePair(
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
  // a hash is a string, an embedded node a list
  const isString = flag === LEAF || content.length === HASH_LENGTH
  let at = writeHead(bytes, 0, 0xc0, pathSize + (isString ? stringSize(content) : content.length))
  if (pathLength > 1) bytes[at++] = 0x80 + pathLength
  at = writePath(bytes, at, key, from, to, flag)
  if (isString) return writeString(bytes, at, content)
  bytes.set(content, at)
  return at + content.length
}

/** The last of the 17 items is empty. Returns the end. */
function writeBranch({ bytes, view }: Page, children: readonly (Reference | undefined)[]): number {
  let size = 1
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children[nibble]
    size += child === undefined ? 1 : isShort(child) ? child.length : 1 + HASH_LENGTH
  }
  let at = writeHead(bytes, 0, 0xc0, size)
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children[nibble]
    if (child === undefined) {
      bytes[at++] = 0x80
    } else if (isShort(child)) {
      bytes.set(child, at)
      at += child.length
    } else {
      bytes[at++] = 0xa0
      writeDigest(view, at, child)
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
    out[at++] = flag | ODD | nibbleAt(key, index)
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
