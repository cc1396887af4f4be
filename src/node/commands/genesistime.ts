// Changes the time of a genesis without blocks on it, to match that of a peer's chain.
import type { Hash } from '../../core/hex.ts'
import { sealBlock } from '../../protocol/blocks/block.ts'
import { headOf, treeFrom } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'

export function withGenesisTime(
  state: ChainState,
  timestamp: bigint,
  wanted: Hash,
): ChainState | undefined {
  const { world, totalDifficulty, block } = headOf(state.tree)
  const sealed = sealBlock({ ...block.header, timestamp }, [])
  if (sealed.hash !== wanted) return undefined
  const genesis = { block: sealed, executed: [], world, totalDifficulty }
  const tree = treeFrom(genesis)
  const { origin } = state
  return { ...state, tree, origin: origin && { ...origin, tree } }
}
