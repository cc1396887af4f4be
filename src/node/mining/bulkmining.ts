// Interface of the bulk miner of empty blocks (node/bulk). A chain without it mines the same blocks.
import type { YieldIfDue } from '../../core/yield.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { StateChange } from '../ledger/change.ts'
import type { AlikeBlocks } from './emptyblocks.ts'
import type { Mined, MineOptions } from './miner.ts'

export interface MinedRun {
  readonly state: ChainState
  readonly blocks: bigint
}

/** Each function returns undefined where a block has to be mined normally. */
export interface BulkMining {
  readonly mineNext: (state: ChainState, options: MineOptions) => Mined | undefined
  /** Mines as many of these blocks as it can. It awaits `yieldIfDue` every few blocks. */
  readonly mineRun: (
    state: ChainState,
    blocks: AlikeBlocks,
    now: number,
    yieldIfDue: YieldIfDue,
  ) => Promise<MinedRun | undefined>
  /** Called with each normally mined block as the head. */
  readonly noteBlock: (state: ChainState, now: number) => Promise<void>
  /** Called on each change, to free what was kept for a former head. */
  readonly release: (change: StateChange) => void
}
