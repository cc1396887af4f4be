// Finds how many of the next blocks are empty and like the newest one.
import { equalBytes } from '../../core/hex.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { encodeHeader, type Header, headerOf } from '../../protocol/blocks/header.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { hasNoRequests, isAsDeployed } from '../../state/systemslots.ts'
import { accountAt, type World } from '../../state/world.ts'
import { headOf, mayHaveUncles } from '../ledger/blocktree.ts'
import type { ChainConfig, ChainState } from '../ledger/chainstate.ts'
import { nextTimestamps, type TimeRows, timestampIn } from '../ledger/clock.ts'
import { Candidates } from '../pool/pool.ts'
import { nextBlockEnvironment, nonceAt } from './environment.ts'
import { pricedOutOf } from './pricedout.ts'
import { withRewards } from './rewards.ts'

export interface RunRequest {
  /** Wall time in milliseconds. */
  readonly now: number
  readonly blocks: bigint
  /** Seconds between blocks; by default the clock's. */
  readonly interval: bigint | undefined
}

/** The system contracts that each block writes to. Both must have the main network's code. */
export interface SystemWrites {
  /** The ring of timestamps (EIP-4788). */
  readonly time: boolean
  /** The ring of parent hashes (EIP-2935). */
  readonly hash: boolean
}

export interface AlikeBlocks {
  readonly count: number
  readonly times: TimeRows
  readonly writes: SystemWrites
}

type NumberAndTime = readonly [number: bigint, timestamp: bigint]

/** Undefined when the next block differs: the newest one must be empty and mined with the present settings. */
export function alikeBlocks(
  state: ChainState,
  { now, blocks, interval }: RunRequest,
): AlikeBlocks | undefined {
  const times = nextTimestamps(state, now, interval)
  const writes = writesOfAlike(state, nextBlockEnvironment(state, now, timestampIn(times, 0)))
  return writes && { count: alikeCount(state, blocks, times), times, writes }
}

/** The next block's writes to system contracts; undefined when it is not empty or not like the newest one. */
export function writesOfAlike(state: ChainState, next: BlockEnvironment): SystemWrites | undefined {
  const writes = systemWrites(headOf(state.tree).world, next)
  // the access list of a block names both
  const isListed = isAtLeast(next.hardfork, 'amsterdam')
  if (isListed && !(writes?.time === true && writes.hash)) return undefined
  return writes !== undefined && isLikeHead(state, next) ? writes : undefined
}

export function isIdle(state: ChainState, next: BlockEnvironment): boolean {
  const { pool, tree } = state
  if (pool.size === 0) return true
  const isMined = new Candidates(pool, headOf(tree).world, next).best !== undefined
  return !isMined && pricedOutOf(state, next).length === 0
}

export function hasNoUncles({ config, tree }: ChainState): boolean {
  return config.options.maxUncles === 0 || !mayHaveUncles(tree)
}

export function haveSameRules(
  { forkPoints }: ChainConfig,
  one: NumberAndTime,
  other: NumberAndTime,
): boolean {
  const isSameSide = (points: readonly bigint[], at: 0 | 1): boolean =>
    points.every((point) => point <= one[at] === point <= other[at])
  return isSameSide(forkPoints.blocks, 0) && isSameSide(forkPoints.times, 1)
}

/** Undefined where a system contract is not the main network's. */
export function systemWrites(
  world: World,
  { hardfork }: BlockEnvironment,
): SystemWrites | undefined {
  const time = isAtLeast(hardfork, 'cancun') ? writesTo(world, BEACON_ROOTS) : false
  const hash = isAtLeast(hardfork, 'prague') ? writesTo(world, HISTORY_STORAGE) : false
  return time === undefined || hash === undefined ? undefined : { time, hash }
}

/** False without a contract; undefined for another contract. */
function writesTo(world: World, contract: Predeploy): boolean | undefined {
  const code = accountAt(world, contract.address)?.code
  if (code === undefined || code.length === 0) return false
  return isAsDeployed(world, contract) ? true : undefined
}

function isLikeHead(state: ChainState, next: BlockEnvironment): boolean {
  const { tree, settings, config, clock } = state
  const { block, executed, world } = headOf(tree)
  return (
    executed.length === 0 &&
    block.uncles.length === 0 &&
    block.withdrawals.length === 0 &&
    settings.nextPrevRandao === undefined &&
    settings.laterPrevRandao === undefined &&
    settings.nextBaseFee === undefined &&
    clock.nextTimestamp === undefined &&
    hasHeaderOf(block.header, next, state) &&
    isIdle(state, next) &&
    hasNoUncles(state) &&
    withRewards(world, config, next.hardfork, block.header, []) === world &&
    hasNoRequests(world, next.hardfork)
  )
}

/** Compares all but number, time, slot, hashes and randomness. */
function hasHeaderOf(
  header: Header,
  next: BlockEnvironment,
  { config, settings: { extraData } }: ChainState,
): boolean {
  const { parentHash, stateRoot, number, timestamp, mixHash } = header
  const { slotNumber, blockAccessListHash } = header
  // the first block of amsterdam is not like the one before
  if (isAtLeast(next.hardfork, 'amsterdam') !== (slotNumber !== undefined)) return false
  const nonce = nonceAt(config, next.hardfork)
  const contents = { transactions: [], receipts: [], stateRoot, extraData, nonce }
  const empty = headerOf(next, parentHash, contents)
  const own = { number, timestamp, mixHash, slotNumber, blockAccessListHash }
  return equalBytes(encodeHeader({ ...empty, ...own }), encodeHeader(header))
}

/** How many of the next blocks have the same rules: all wanted, or half, or a quarter… */
function alikeCount({ config, tree }: ChainState, wanted: bigint, times: TimeRows): number {
  const next = BigInt(tree.canonical.length)
  const pointAt = (index: number) => [next + BigInt(index), timestampIn(times, index)] as const
  const first = pointAt(0)
  let count = Number(wanted)
  while (count > 0 && !haveSameRules(config, first, pointAt(count - 1))) {
    count = Math.floor(count / 2)
  }
  return count
}
