// Caches the worlds between transactions of recently replayed blocks.
import type { Hash } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'

/** Gas of the transactions whose worlds are kept. It bounds the memory, because worlds share what did not change. */
const KEPT_GAS = 50_000_000

/** Blocks: one with a single transaction has no gas before that. */
const KEPT_BLOCKS = 500

interface KeptBlock {
  readonly worlds: World[]
  readonly gas: number
}

export class WorldsBetween {
  readonly #blocks = new LruCache<Hash, KeptBlock>(KEPT_BLOCKS, {
    most: KEPT_GAS,
    of: ({ gas }) => gas,
  })

  /** Takes the worlds of a block in order; skips those that are cached already. */
  keep({ block, executed }: BlockRecord, index: number, world: World): void {
    const { worlds, gas } = this.#blocks.get(block.hash) ?? { worlds: [], gas: 0 }
    if (worlds.length !== index) return
    worlds.push(world)
    const more = Number(executed[index - 1]?.receipt.gasUsed ?? 0n)
    this.#blocks.set(block.hash, { worlds, gas: gas + more })
  }

  /** The last world of a block that is cached, up to this index. */
  nearest(
    { block }: BlockRecord,
    index: number,
  ): { readonly index: number; readonly world: World } | undefined {
    const { worlds } = this.#blocks.get(block.hash) ?? { worlds: [] }
    const at = Math.min(index, worlds.length - 1)
    const world = worlds[at]
    return world && { index: at, world }
  }
}
