// Block rewards of proof of work: those of miners and uncle miners (Yellow Paper, 11.3).
import type { Address } from '../../core/hex.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
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

export interface Reward {
  readonly address: Address
  /** Wei. */
  readonly amount: bigint
}

const ETHER = 10n ** 18n

/** Generations between a block and an uncle without value. */
const WORTHLESS_AGE = 8n

/** 5 ether, then 3 (EIP-649), 2 (EIP-1234). An uncle adds 1/32; its miner loses 1/8 a generation. None from paris on. */
function rewardsOf(
  { miner, number }: Pick<Header, 'miner' | 'number'>,
  uncles: readonly Pick<Header, 'miner' | 'number'>[],
  hardfork: Hardfork,
): readonly Reward[] {
  if (isAtLeast(hardfork, 'paris')) return []
  const whole = blockReward(hardfork)
  const forUncles = uncles.map((uncle) => ({
    address: uncle.miner,
    amount: (whole * (WORTHLESS_AGE - (number - uncle.number))) / WORTHLESS_AGE,
  }))
  return [...forUncles, { address: miner, amount: whole + (whole / 32n) * BigInt(uncles.length) }]
}

function blockReward(hardfork: Hardfork): bigint {
  if (isAtLeast(hardfork, 'constantinople')) return 2n * ETHER
  return (isAtLeast(hardfork, 'byzantium') ? 3n : 5n) * ETHER
}
