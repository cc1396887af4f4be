// Blocks that peers sent unasked and that are not on the chain yet: a bounded number of them, found again by hash.
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { blockByHash } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { FetchedBlock } from './bodies.ts'

const MAX_BLOCKS = 512
const MAX_BYTES = 2_000_000

/** Blocks that lead from one that is known to one that is wanted, the oldest first. */
export interface FreshBranch {
  readonly parent: BlockRecord
  readonly blocks: readonly FetchedBlock[]
}

export class FreshBlocks {
  readonly #blocks = new Map<Hash, FetchedBlock>()
  #bytes = 0

  has(hash: Hash): boolean {
    return this.#blocks.has(hash)
  }

  add(fetched: FetchedBlock): void {
    const { hash, size } = fetched.block
    if (this.#blocks.has(hash)) return
    this.#blocks.set(hash, fetched)
    this.#bytes += size
    for (const [oldest] of this.#blocks) {
      if (this.#blocks.size <= MAX_BLOCKS && this.#bytes <= MAX_BYTES) break
      this.delete(oldest)
    }
  }

  delete(hash: Hash): void {
    const found = this.#blocks.get(hash)
    if (found === undefined) return
    this.#blocks.delete(hash)
    this.#bytes -= found.block.size
  }

  /** The blocks that lead to the one of a hash; undefined where one of them is missing. */
  leadingTo(hash: Hash, { tree }: ChainState): FreshBranch | undefined {
    const blocks: FetchedBlock[] = []
    for (let next: Hash = hash; ; ) {
      const found = this.#blocks.get(next)
      if (found === undefined) return undefined
      blocks.unshift(found)
      next = found.block.header.parentHash
      const parent = blockByHash(tree, next)
      if (parent !== undefined) return { parent, blocks }
    }
  }
}
