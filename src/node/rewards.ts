// Paying for proof-of-work, on chains that pay.
import type { Header } from '../protocol/block.ts'
import type { Hardfork } from '../protocol/forks.ts'
import { rewardsOf } from '../protocol/rewards.ts'
import { balanceAt, type World, withBalance } from '../state/world.ts'
import type { ChainConfig } from './chainstate.ts'

/** The world after a block's miner and those of its uncles were paid; the same world where the chain does not pay. */
export function withRewards(
  world: World,
  { ruleset }: Pick<ChainConfig, 'ruleset'>,
  hardfork: Hardfork,
  header: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Header[],
): World {
  if (ruleset === 'own') return world
  return rewardsOf(header, uncles, hardfork).reduce(
    (paid, { address, amount }) => withBalance(paid, address, balanceAt(paid, address) + amount),
    world,
  )
}
