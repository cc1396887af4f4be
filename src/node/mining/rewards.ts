// Paying for proof-of-work, on chains that pay.
import type { Header } from '../../protocol/blocks/header.ts'
import { type Reward, rewardsOf } from '../../protocol/blocks/rewards.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { balanceAt, type World, withBalance } from '../../state/world.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'

/** What a block pays: its uncles' miners first, its own last; nothing where the chain does not pay. */
export function rewardsIn(
  { ruleset }: Pick<ChainConfig, 'ruleset'>,
  hardfork: Hardfork,
  header: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Header[],
): readonly Reward[] {
  return ruleset === 'own' ? [] : rewardsOf(header, uncles, hardfork)
}

/** The world after a block's miner and those of its uncles were paid; the same world where the chain does not pay. */
export function withRewards(
  world: World,
  config: Pick<ChainConfig, 'ruleset'>,
  hardfork: Hardfork,
  header: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Header[],
): World {
  return rewardsIn(config, hardfork, header, uncles).reduce(
    (paid, { address, amount }) => withBalance(paid, address, balanceAt(paid, address) + amount),
    world,
  )
}
