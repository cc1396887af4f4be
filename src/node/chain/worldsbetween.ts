// The accounts between the transactions of blocks that were run again lately: the next look into such a block begins there.
import type { Hash } from '../../core/hex.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'

/**
 * Gas of the transactions whose worlds are kept, together. Worlds share all that a transaction left as it was, and what it
 * changed costs gas.
 */
const GAS_LIMIT = 100_000_000n

/** Blocks of which anything is kept: one with a single transaction has no gas before that. */
const BLOCK_LIMIT = 1_000

/** A world, and the index of the transaction that finds it. */
interface Found {
  readonly index: number
  readonly world: World
}

interface Kept {
  readonly worlds: World[]
  gas: bigint
}

/** Worlds between transactions, those of the blocks that were asked for last. */
export class WorldsBetween {
  readonly #blocks = new Map<Hash, Kept>()
  #gas = 0n

  /** Keeps what the transaction of an index finds. Those before it are kept already, or the index is 0. */
  keep({ block, executed }: BlockRecord, index: number, world: World): void {
    const kept = this.#blocks.get(block.hash) ?? { worlds: [], gas: 0n }
    if (kept.worlds.length !== index) return
    const gas = executed[index - 1]?.receipt.gasUsed ?? 0n
    kept.worlds.push(world)
    kept.gas += gas
    this.#gas += gas
    this.#use(block.hash, kept)
  }

  /** The nearest that is kept before the transaction of an index, or what it finds itself. */
  nearest({ block }: BlockRecord, index: number): Found | undefined {
    const kept = this.#blocks.get(block.hash)
    if (kept === undefined) return undefined
    this.#use(block.hash, kept)
    const at = Math.min(index, kept.worlds.length - 1)
    const world = kept.worlds[at]
    return world === undefined ? undefined : { index: at, world }
  }

  /** The map's order is that of use: the first has not been used for longest. */
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
