// Caches the worlds between transactions of recently replayed blocks.
import type { Hash } from '../../core/hex.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'

/** Most gas of the transactions whose worlds are kept. Gas bounds the memory, because worlds share what did not change. */
const GAS_LIMIT = 100_000_000n

/** Most blocks: one with a single transaction has no gas before that. */
const BLOCK_LIMIT = 1_000

interface KeptWorld {
  readonly index: number
  readonly world: World
}

interface Kept {
  readonly worlds: World[]
  gas: bigint
}

export class WorldsBetween {
  readonly #blocks = new Map<Hash, Kept>()
  #gas = 0n

  /** Skips indexes that are cached already, and 0. */
  keep({ block, executed }: BlockRecord, index: number, world: World): void {
    const kept = this.#blocks.get(block.hash) ?? { worlds: [], gas: 0n }
    if (kept.worlds.length !== index) return
    const gas = executed[index - 1]?.receipt.gasUsed ?? 0n
    kept.worlds.push(world)
    kept.gas += gas
    this.#gas += gas
    this.#use(block.hash, kept)
  }

  nearest({ block }: BlockRecord, index: number): KeptWorld | undefined {
    const kept = this.#blocks.get(block.hash)
    if (kept === undefined) return undefined
    this.#use(block.hash, kept)
    const at = Math.min(index, kept.worlds.length - 1)
    const world = kept.worlds[at]
    return world === undefined ? undefined : { index: at, world }
  }

  /** The map is in order of use, the least recently used first. */
  #use(hash: Hash, kept: Kept): void {
    this.#blocks.delete(hash)
    this.#blocks.set(hash, kept)
    for (const [oldest, { gas }] of this.#blocks) {
      if (this.#gas <= GAS_LIMIT && this.#blocks.size <= BLOCK_LIMIT) return
      this.#blocks.delete(oldest)
      this.#gas -= gas
    }
  }
}
