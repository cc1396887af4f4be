// A Merkle-Patricia trie in linear memory that gives a root after each change (assembly/livetrie.ts), seen from outside.
import { readDigest } from '../../core/crypto/keccak.ts'
import type { Trie } from '../../state/trie.ts'
import type { Node } from '../../state/trienode.ts'
import type { Arena } from './arena.ts'

/** Bytes of a live trie itself: where its root node is, and where the root's hash goes. */
export const LIVE_TRIE_LENGTH = 8

/** Keys come and change, and never go; values have at most 55 bytes. */
export class LiveTrie {
  readonly #arena: Arena
  /** Where it is. */
  readonly at: number

  /** @param at where `LIVE_TRIE_LENGTH` zeros are; the root, 32 bytes, goes to `target` */
  constructor(arena: Arena, at: number, target: number) {
    this.#arena = arena
    this.at = at
    arena.setWords(at, [0, target])
  }

  /**
   * Sets a key to a value, which is RLP.
   * @returns false when a node became too short to be hashed: ten nibbles or more of two keys are the same. The trie is of
   *   no use then
   */
  put(key: Uint8Array, value: Uint8Array): boolean {
    const { exports } = this.#arena
    const [keyAt, valueAt] = [this.#arena.store(key), this.#arena.store(value)]
    return exports.put(this.at, keyAt, valueAt, value.length) !== 0
  }

  /**
   * Gives a trie of the same contents the hashes of its nodes, where it has none yet. All that changed here was
   * hashed.
   */
  shareHashes<V>(trie: Trie<V>): void {
    const { bytes, exports } = this.#arena
    const view = new DataView(bytes.buffer)
    const share = (at: number, node: Node<V>): void => {
      if (node.reference !== undefined || node.kind === 'blinded') return
      node.reference = readDigest(view, exports.targetOf(at))
      if (node.kind === 'extension') share(exports.childAt(at, 0), node.child)
      if (node.kind !== 'branch') return
      for (const [nibble, child] of node.children.entries()) {
        if (child !== undefined) share(exports.childAt(at, nibble), child)
      }
    }
    if (trie.root !== undefined) share(view.getUint32(this.at, true), trie.root)
  }
}
