// Block rewards of proof of work.
import type { Header } from '../../protocol/blocks/header.ts'
import { type Reward, rewardsOf } from '../../protocol/blocks/rewards.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { balanceAt, type World, withBalance } from '../../state/world.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'

/** The uncles' miners first, the block's own last; empty where the chain pays none. */
export function rewardsIn(
  { ruleset }: Pick<ChainConfig, 'ruleset'>,
  hardfork: Hardfork,
  header: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Header[],
): readonly Reward[] {
  return ruleset === 'own' ? [] : rewardsOf(header, uncles, hardfork)
}

export function withRewards(
  world: World,
  config: Pick<ChainConfig, 'ruleset'>,
  hardfork: Hardfork,
  header: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Header[],
): World {
  return credited(world, rewardsIn(config, hardfork, header, uncles))
}

export function credited(world: World, credits: readonly Reward[]): World {
  return credits.reduce((paid, { address, amount }) => {
    const balance = BigInt.asUintN(256, balanceAt(paid, address) + amount)
    return withBalance(paid, address, balance)
  }, world)
}
