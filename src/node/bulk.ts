// Mining many empty blocks at once: when blocks are alike, and what becomes of the chain.
import type { Breathe } from '../core/breather.ts'
import { equalBytes, ZERO_HASH } from '../core/hex.ts'
import type { BlockEnvironment } from '../evm/executor.ts'
import { isAtLeast } from '../protocol/forks.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../state/predeploys.ts'
import { hasNoRequests, isAsDeployed, RING } from '../state/systemslots.ts'
import { accountAt, type World } from '../state/world.ts'
import { appendRun, type BlockRecord, headOf, mayHaveUncles } from './blocktree.ts'
import type { ChainState } from './chainstate.ts'
import { nextTimestamps } from './clock.ts'
import { type EmptyRun, LongRun, type RunPlan } from './emptyrun.ts'
import { nextBlockEnvironment } from './miner.ts'
import { Candidates } from './pool.ts'
import { withRewards } from './rewards.ts'
import type { Told } from './runminer.ts'

/** Fewer blocks are mined one by one. */
const LEAST_RUN = 32

/** Blocks of one command that have hashes of their own; those of a longer one are derived but for its last ones. */
export const MOST_SEALED = 1_000_000n

/** Blocks at the end of a long run that are sealed all the same: BLOCKHASH and the ring of hashes see no others. */
const SEALED_TAIL = RING + 1n

/** Blocks between two moments when other work may have a turn: half a millisecond. */
const BREATH = 64

/** Which blocks are wanted. */
export interface RunRequest {
  /** Wall time in milliseconds. */
  readonly now: number
  /** How many, from the next one on. */
  readonly blocks: bigint
  /** Seconds from each block to the next; undefined: what the clock says. */
  readonly interval: bigint | undefined
  /** Awaited after each few blocks. */
  readonly breathe: Breathe
}

/** The state after a run, and how many blocks it has. The clock is that of before: the next block sets it. */
export interface MinedRun {
  readonly state: ChainState
  readonly blocks: bigint
}

/**
 * Mines as many of the next blocks as are empty and like the newest one, which is empty itself and was mined with the
 * settings of now. More than a million of them are not sealed one by one (see `LongRun`).
 * @returns undefined when the next block is none such, or there are too few of them for the effort
 */
export async function mineRun(
  state: ChainState,
  request: RunRequest,
): Promise<MinedRun | undefined> {
  const timestampAt = nextTimestamps(state, request.now, request.interval)
  const environment = nextBlockEnvironment(state, request.now, timestampAt(0))
  const told = toldOf(headOf(state.tree).world, environment)
  if (told === undefined || !isLikeHead(state, environment)) return undefined
  const count = alikeCount(state, request.blocks, timestampAt)
  if (count < LEAST_RUN) return undefined
  const plan: RunPlan = {
    parent: headOf(state.tree),
    count,
    timestampAt,
    abandoned: state.tree.abandoned,
  }
  return count > MOST_SEALED ? longRun(state, plan) : sealedRun(state, plan, told, request)
}

/** A run without hashes of its own, up to where the sealed ones begin again. */
function longRun(state: ChainState, plan: RunPlan): MinedRun {
  const run = new LongRun({ ...plan, count: plan.count - Number(SEALED_TAIL) })
  return withRun(state, run, run.recordAt(run.count - 1))
}

async function sealedRun(
  state: ChainState,
  plan: RunPlan,
  told: Told,
  { breathe }: RunRequest,
): Promise<MinedRun | undefined> {
  // not needed by a node that mines block by block, and a moment to compile
  const { RunMiner } = await import('./runminer.ts')
  const miner = new RunMiner(plan, told)
  let breath = BREATH
  while (miner.mined < plan.count && miner.mineNext()) {
    if (miner.mined < breath) continue
    breath = miner.mined + BREATH
    await breathe()
  }
  if (miner.mined < LEAST_RUN) return undefined
  const { run, world } = miner.finish()
  return withRun(state, run, { ...run.recordAt(run.count - 1), world })
}

function withRun(state: ChainState, run: EmptyRun, last: BlockRecord): MinedRun {
  return {
    state: { ...state, tree: appendRun(state.tree, run, last) },
    blocks: BigInt(run.count),
  }
}

/** Which contracts hear of each block; undefined where something else than theirs is to be called. */
function toldOf(world: World, { hardfork }: BlockEnvironment): Told | undefined {
  const time = isAtLeast(hardfork, 'cancun') ? hears(world, BEACON_ROOTS) : false
  const hash = isAtLeast(hardfork, 'prague') ? hears(world, HISTORY_STORAGE) : false
  return time === undefined || hash === undefined ? undefined : { time, hash }
}

/** False where nothing is deployed; undefined where it is something else. */
function hears(world: World, contract: Predeploy): boolean | undefined {
  const code = accountAt(world, contract.address)?.code
  if (code === undefined || code.length === 0) return false
  return isAsDeployed(world, contract) ? true : undefined
}

/** True when the next block is empty and its header as the newest one's, but for number, time, hashes and randomness. */
function isLikeHead(state: ChainState, next: BlockEnvironment): boolean {
  const { tree, settings, config, clock, pool } = state
  const { block, executed, world } = headOf(tree)
  const { header } = block
  return (
    executed.length === 0 &&
    block.uncles.length === 0 &&
    block.withdrawals.length === 0 &&
    settings.nextPrevRandao === undefined &&
    clock.nextTimestamp === undefined &&
    config.hardforkAt(header.number, header.timestamp) === next.hardfork &&
    next.baseFee === (header.baseFeePerGas ?? 0n) &&
    next.excessBlobGas === (header.excessBlobGas ?? 0n) &&
    next.gasLimit === header.gasLimit &&
    next.difficulty === header.difficulty &&
    next.coinbase === header.miner &&
    equalBytes(settings.extraData, header.extraData) &&
    header.nonce.every((byte) => byte === 0) &&
    (header.parentBeaconBlockRoot ?? ZERO_HASH) === ZERO_HASH &&
    new Candidates(pool, world, next).best === undefined &&
    (config.maxUncles === 0 || !mayHaveUncles(tree)) &&
    withRewards(world, config, next.hardfork, header, []) === world &&
    hasNoRequests(world, next.hardfork)
  )
}

/** How many of the next blocks have the same rules, at most as many as wanted: exact, or half as many, or half of that… */
function alikeCount(
  { config, tree }: ChainState,
  wanted: bigint,
  timestampAt: (index: number) => bigint,
): number {
  const head = BigInt(tree.canonical.length) - 1n
  const rulesAt = (index: number): readonly unknown[] => {
    const [number, timestamp] = [head + 1n + BigInt(index), timestampAt(index)]
    const { target, max, updateFraction } = config.blobRulesAt(number, timestamp)
    return [config.hardforkAt(number, timestamp), target, max, updateFraction]
  }
  const first = rulesAt(0)
  const isAlike = (index: number): boolean =>
    rulesAt(index).every((rule, position) => rule === first[position])
  let count = Number(wanted)
  while (count > 0 && !isAlike(count - 1)) count = Math.floor(count / 2)
  return count
}
