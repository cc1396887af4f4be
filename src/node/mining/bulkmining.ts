// What a chain may have to mine empty blocks faster than one by one (node/bulk). A chain without it mines the same blocks.
import type { YieldIfDue } from '../../core/yield.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { StateChange } from '../ledger/change.ts'
import type { AlikeBlocks } from './emptyblocks.ts'
import type { Mined, MineOptions } from './miner.ts'

/** The state after a run of blocks, and how many it has. The clock is that of before: the next block sets it. */
export interface MinedRun {
  readonly state: ChainState
  readonly blocks: bigint
}

/** Mines empty blocks. Each function answers undefined where a block is to be mined as any other. */
export interface BulkMining {
  readonly mineNext: (state: ChainState, options: MineOptions) => Mined | undefined
  /** Mines as many of these blocks as it can. `yieldIfDue` is awaited after each few of them. */
  readonly mineRun: (
    state: ChainState,
    blocks: AlikeBlocks,
    now: number,
    yieldIfDue: YieldIfDue,
  ) => Promise<MinedRun | undefined>
  /** Learns of a block that was mined as any other, and is the head now. */
  readonly noteBlock: (state: ChainState, now: number) => Promise<void>
  /** Learns of a change of the chain, so that it keeps nothing for a head that is none any more. */
  readonly release: (change: StateChange) => void
}
