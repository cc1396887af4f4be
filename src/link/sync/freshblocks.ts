// Keeps a bounded number of announced blocks that are not on the chain yet, by hash.
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { blockByHash } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { FetchedBlock } from './bodies.ts'

const MAX_BLOCKS = 512
const MAX_BYTES = 2_000_000

/** From a child of a known block to the wanted one. */
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

  /** Undefined: a block in between is missing. */
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
