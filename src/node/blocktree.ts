// The blocks of a chain: its canonical line, and what is known by hash.
import type { Hash } from '../core/hex.ts'
import type { PersistentList, PersistentMap } from '../core/persistent.ts'
import type { ConsoleLine, Failure } from '../evm/executor.ts'
import type { Block } from '../protocol/block.ts'
import type { Receipt } from '../protocol/receipt.ts'
import type { Transaction } from '../protocol/transaction.ts'
import type { World } from '../state/world.ts'

/** A transaction in a block, with all that came of it. */
export interface ExecutedTransaction {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** Return data, or revert data. */
  readonly output: Uint8Array
  readonly failure: Failure | undefined
  readonly consoleLines: readonly ConsoleLine[]
}

/** A block with what came of it. `executed[i]` belongs to `block.transactions[i]`. */
export interface BlockRecord {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
  /** All accounts after the block. */
  readonly world: World
  /** Difficulty of all blocks up to and including this one, uncles included. */
  readonly totalDifficulty: bigint
}

/** Where a transaction stands in the canonical chain. */
export interface TransactionPlace {
  readonly record: BlockRecord
  readonly index: number
}

/** The canonical chain, and every known block and canonical transaction by hash. */
export interface BlockTree {
  /** `canonical.at(n)` is block n. */
  readonly canonical: PersistentList<BlockRecord>
  readonly byHash: PersistentMap<Hash, BlockRecord>
  readonly places: PersistentMap<Hash, TransactionPlace>
}

/** What happened to the canonical chain between two states. */
export interface HeadChange {
  /** Abandoned blocks, newest first. */
  readonly removed: readonly BlockRecord[]
  /** New blocks, oldest first. */
  readonly added: readonly BlockRecord[]
}
