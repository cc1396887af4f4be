// Merkle proofs that another network gives: what they prove of a key under a root that is known.
import { keccak256 } from '../core/crypto/crypto.ts'
import { equalBytes } from '../core/hex.ts'
import { decodeRlp, type RlpItem } from '../core/rlp.ts'
import { nibbleAt } from '../state/trienode.ts'
import { emptyStorage } from '../state/world.ts'

/** Why a proof proves nothing. */
export class BrokenProof extends Error {
  override readonly name = 'BrokenProof'
}

/** Items of a branch. */
const BRANCH = 17

/**
 * The value of a key, as its leaf holds it; undefined where the proof is that there is none.
 * @param root 32 bytes
 * @param nodes from the root on, as `eth_getProof` answers them
 * @throws {BrokenProof} when it proves nothing of the kind
 */
export function provenValue(
  root: Uint8Array,
  key: Uint8Array,
  nodes: readonly Uint8Array[],
): Uint8Array | undefined {
  if (nodes.length === 0 && equalBytes(root, emptyStorage.rootBytes)) return undefined
  let used = 0
  let depth = 0
  let reference: RlpItem | undefined = root
  for (;;) {
    if (reference instanceof Uint8Array && reference.length === 0) return undefined
    // a node shorter than a hash stands in its parent
    const isHash: boolean = reference instanceof Uint8Array
    const node = listOf(isHash ? decoded(nodes[used], reference as Uint8Array) : reference)
    if (isHash) used += 1
    if (node.length === BRANCH) {
      reference = node[nibbleAt(key, depth)]
      depth += 1
      continue
    }
    const { isLeaf, nibbles } = pathOf(node[0])
    if (nibbles.some((nibble, index) => nibble !== nibbleAt(key, depth + index))) return undefined
    depth += nibbles.length
    reference = node[1]
    if (!isLeaf) continue
    if (reference instanceof Uint8Array) return reference
    throw new BrokenProof('a leaf has no value')
  }
}

function decoded(node: Uint8Array | undefined, hash: Uint8Array): RlpItem {
  if (node === undefined) throw new BrokenProof('it ends too early')
  if (!equalBytes(keccak256(node), hash)) throw new BrokenProof('a node has another hash')
  return decodeRlp(node)
}

function listOf(item: RlpItem | undefined): readonly RlpItem[] {
  const isNode = Array.isArray(item) && (item.length === 2 || item.length === BRANCH)
  if (!isNode) throw new BrokenProof('a node is none')
  return item as readonly RlpItem[]
}

/** A path in its compact form: flags, then nibbles. */
function pathOf(item: RlpItem | undefined): {
  readonly isLeaf: boolean
  readonly nibbles: readonly number[]
} {
  if (!(item instanceof Uint8Array) || item.length === 0)
    throw new BrokenProof('a node has no path')
  const all = [...item].flatMap((byte) => [byte >> 4, byte & 15])
  const [flags = 0] = all
  return { isLeaf: (flags & 2) !== 0, nibbles: all.slice((flags & 1) === 1 ? 1 : 2) }
}
