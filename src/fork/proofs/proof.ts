// Verifies Merkle proofs of `eth_getProof` against a known root.
import { keccak256 } from '../../core/crypto/keccak.ts'
import { equalBytes, type Hex, hexFromBytes } from '../../core/hex.ts'
import { BrokenProof, type FindNode, sparseRoot } from '../../state/sparse.ts'
import { firstDifference, KEY_NIBBLES } from '../../state/trienode.ts'
import { pathTo } from '../../state/triewalk.ts'

/** RLP of verified nodes by hash. */
export type ProvenNodes = Map<Hex, Uint8Array>

/**
 * @param known receives the verified nodes
 * @returns undefined: the proof shows that the key is absent
 * @throws {BrokenProof} if it proves neither
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
