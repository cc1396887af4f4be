// Merkle proofs that another network gives: what they prove of a key under a root that is known.
import { keccak256 } from '../../core/crypto/keccak.ts'
import { equalBytes, type Hex, hexFromBytes } from '../../core/hex.ts'
import { BrokenProof, type FindNode, sparseRoot } from '../../state/sparse.ts'
import { firstDifference, KEY_NIBBLES } from '../../state/trienode.ts'
import { pathTo } from '../../state/triewalk.ts'

/** The RLP of nodes by their hash, which each of them was held against. */
export type ProvenNodes = Map<Hex, Uint8Array>

/**
 * The value of a key, as its leaf holds it; undefined where the proof is that there is none.
 * @param known gets the nodes that hold
 * @throws {BrokenProof} when it proves nothing of the kind
 */
export function provenValue(
  root: Uint8Array,
  key: Uint8Array,
  nodes: readonly Uint8Array[],
  known: ProvenNodes,
): Uint8Array | undefined {
  let used = 0
  const find: FindNode = (hash) => {
    const node = nodes[used]
    used += 1
    const text = hexFromBytes(hash)
    const found = known.get(text)
    if (found !== undefined) return found
    if (node === undefined) throw new BrokenProof('it ends too early')
    if (!equalBytes(keccak256(node), hash)) throw new BrokenProof('a node has another hash')
    known.set(text, node)
    return node
  }
  for (const node of pathTo(sparseRoot(root, find), key)) {
    if (node.kind !== 'leaf') continue
    const { depth, value } = node
    return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? value : undefined
  }
  return undefined
}
