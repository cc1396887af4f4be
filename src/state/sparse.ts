// Sparse tries: the known nodes of an upstream trie by hash, and changes over them.
import { equalBytes } from '../core/hex.ts'
import { decodeRlp, type RlpItem } from '../core/rlp.ts'
import { nibbleAt } from '../protocol/trienodes.ts'
import {
  type Blinded,
  digestOf,
  EditToken,
  EMPTY_ROOT_BYTES,
  KEY_NIBBLES,
  makeBranch,
  makeExtension,
  makeLeaf,
  setNibble,
  type TrieNode,
  type WholeNode,
  withNibble,
} from './trienode.ts'

export type SparseNode = TrieNode<Uint8Array>

/**
 * The RLP of the node with a hash.
 * @param key any key below the node; its first `depth` nibbles are the path
 * @throws {MissingState} if it is not known yet
 */
export type FindNode = (hash: Uint8Array, key: Uint8Array, depth: number) => Uint8Array

export class BrokenProof extends Error {
  override readonly name = 'BrokenProof'
}

export function sparseRoot(hash: Uint8Array, find: FindNode): SparseNode | undefined {
  return equalBytes(hash, EMPTY_ROOT_BYTES) ? undefined : blinded(hash, find)
}

export function asItIs(value: Uint8Array): Uint8Array {
  return value
}

function blinded(hash: Uint8Array, find: FindNode): Blinded<Uint8Array> {
  let node: WholeNode<Uint8Array> | undefined
  return {
    kind: 'blinded',
    edit: undefined,
    reference: digestOf(hash),
    reveal: (key, depth) => {
      node ??= hashed(readNode(decodeRlp(find(hash, key, depth)), key, depth, find), hash)
      return node
    },
    isKnown: () => node !== undefined,
  }
}

function hashed(node: WholeNode<Uint8Array>, hash: Uint8Array): WholeNode<Uint8Array> {
  node.reference = digestOf(hash)
  return node
}

const BRANCH_ITEMS = 17
const HASH_LENGTH = 32

/** The token of read nodes, which are immutable. */
const READ = new EditToken()

/** @throws {BrokenProof} for invalid RLP */
function readNode(
  item: RlpItem,
  key: Uint8Array,
  depth: number,
  find: FindNode,
): WholeNode<Uint8Array> {
  if (item instanceof Uint8Array) throw new BrokenProof('a node is no list')
  if (item.length === BRANCH_ITEMS) return readBranch(item, key, depth, find)
  const [path, content] = item
  if (item.length !== 2 || !(path instanceof Uint8Array) || content === undefined) {
    throw new BrokenProof(`a node has ${item.length} items`)
  }
  const { below, end, isLeaf } = withPath(key, depth, path)
  if (!isLeaf) {
    const child = readChild(content, below, end, find)
    if (child === undefined || child.kind === 'leaf' || child.kind === 'extension') {
      throw new BrokenProof('what stands below an extension is no branch')
    }
    return makeExtension(below, depth, end, child, READ)
  }
  if (end !== KEY_NIBBLES || !(content instanceof Uint8Array)) {
    throw new BrokenProof('a leaf is none')
  }
  return makeLeaf(below, depth, content, READ)
}

function readBranch(
  items: readonly RlpItem[],
  key: Uint8Array,
  depth: number,
  find: FindNode,
): WholeNode<Uint8Array> {
  const children = items.slice(0, 16).map((item, nibble) => {
    // an embedded node is read at once and has the nibble on its path
    const below = item instanceof Uint8Array ? key : withNibble(key, depth, nibble)
    return readChild(item, below, depth + 1, find)
  })
  const count = children.reduce((sum, child) => sum + (child === undefined ? 0 : 1), 0)
  return makeBranch(children, count, READ)
}

function readChild(
  item: RlpItem,
  key: Uint8Array,
  depth: number,
  find: FindNode,
): SparseNode | undefined {
  if (!(item instanceof Uint8Array)) return readNode(item, key, depth, find)
  if (item.length === 0) return undefined
  if (item.length !== HASH_LENGTH) throw new BrokenProof('a reference is no hash')
  return blinded(item, find)
}

/** Replaces the nibbles from `depth` by those of a compact path. */
function withPath(
  key: Uint8Array,
  depth: number,
  path: Uint8Array,
): { readonly below: Uint8Array; readonly end: number; readonly isLeaf: boolean } {
  const flags = (path[0] ?? 0) >> 4
  const from = (flags & 1) === 1 ? 1 : 2
  const end = depth + 2 * path.length - from
  if (path.length === 0 || end > KEY_NIBBLES) throw new BrokenProof('a path is none')
  const below = key.slice()
  for (let index = depth; index < end; index++) {
    setNibble(below, index, nibbleAt(path, from + index - depth))
  }
  return { below, end, isLeaf: (flags & 2) !== 0 }
}
