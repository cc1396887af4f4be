// Mining empty blocks that are like the one before, one at a time or many at once: when they are, and what becomes of the
// chain.

import { equalBytes } from '../../core/hex.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { EMPTY_REQUESTS_HASH, encodeHeader, type Header } from '../../protocol/block.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { hasNoRequests, isAsDeployed, RING } from '../../state/systemslots.ts'
import { accountAt, type World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import {
  appendRun,
  type BlockTree,
  blockByNumber,
  headOf,
  mayHaveUncles,
} from '../ledger/blocktree.ts'
import type { ChainConfig, ChainState } from '../ledger/chainstate.ts'
import type { StateChange } from '../ledger/change.ts'
import { clockAfterBlock, nextTimestamp, nextTimestamps } from '../ledger/clock.ts'
import { headerOf, nextBlockEnvironment } from '../mining/environment.ts'
import type { Mined, MineOptions } from '../mining/miner.ts'
import { withRewards } from '../mining/rewards.ts'
import { Candidates } from '../pool/pool.ts'
import { LongRun } from './emptyrun.ts'
import type { RunMiner, Told } from './runminer.ts'

/** Fewer blocks are mined one by one. */
const LEAST_RUN = 32

/** Blocks of one command that have hashes of their own; those of a longer one are derived but for its last ones. */
export const MOST_SEALED = 1_000_000n

/** Blocks at the end of a long run that are sealed all the same: BLOCKHASH and the ring of hashes see no others. */
const SEALED_TAIL = RING + 1n

/** Blocks between two moments when other work may have a turn: half a millisecond. */
const BREATH = 64

/**
 * Blocks mined one by one before a miner of empty blocks is made, and slots of the rings for each more of them: to take
 * over 16,000 slots takes 45 ms, and each block that it mines saves 40 µs.
 */
const LEAST_STREAK = 8
const SLOTS_PER_BLOCK = 16

/**
 * Milliseconds that so few blocks take where they come slowly, one each interval: there the time to make a miner is
 * nothing, and a block that it mines keeps a fiftieth of the memory.
 */
const SLOW_STREAK_MS = 5_000

/** Seconds; a miner of empty blocks, which counts in numbers, knows no later ones. */
const LATEST = BigInt(Number.MAX_SAFE_INTEGER)

/** Which blocks are wanted. */
export interface RunRequest {
  /** Wall time in milliseconds. */
  readonly now: number
  /** How many, from the next one on. */
  readonly blocks: bigint
  /** Seconds from each block to the next; undefined: what the clock says. */
  readonly interval: bigint | undefined
  /** Awaited after each few blocks. */
  readonly yieldIfDue: YieldIfDue
}

/** The state after a run, and how many blocks it has. The clock is that of before: the next block sets it. */
export interface MinedRun {
  readonly state: ChainState
  readonly blocks: bigint
}

/**
 * A miner whose newest block is the head of a chain, and of what in the chain's state its blocks are. Of what waits in
 * the pool nothing can be mined.
 */
interface Standing extends Pick<ChainState, 'config' | 'settings' | 'pool'> {
  readonly miner: RunMiner
}

/** Empty blocks that came one after another, and when the first of them did, in milliseconds of wall time. */
interface Streak {
  readonly blocks: number
  readonly since: number
}

/** By head: the miner that stands ready, or the empty blocks of which the head is the last. */
const standing = new WeakMap<BlockRecord, Standing | Streak>()

/** Lets go of the miner that stood ready for the block after a former head: it keeps megabytes, and the head may be kept for good. */
export function releaseMiner({ before, after }: StateChange): void {
  const head = headOf(before.tree)
  if (head === headOf(after.tree)) return
  const ready = standing.get(head)
  if (ready !== undefined && 'miner' in ready) ready.miner.close()
  standing.delete(head)
}

/**
 * Mines the next block, which is empty and like the newest one, where a miner stands ready for it: in a sixth of the time
 * that it takes to make a block of nothing.
 * @returns undefined when there is no such miner, or the next block is none such
 */
export function mineAlike(state: ChainState, options: MineOptions): Mined | undefined {
  const { tree, config } = state
  const head = headOf(tree)
  const ready = takeReady(state, head, options.now)
  if (ready === undefined) return undefined
  const { miner } = ready
  const { row, next } = miner
  const newest = newestTime(ready)
  const timestamp = options.timestamp ?? nextTimestamp(state, options.now, newest)
  const number = BigInt(next)
  const isSame = isSameRule(config, [number - 1n, newest], [number, timestamp])
  if (!isSame || miner.mine([Number(timestamp)]) === 0) return undefined
  const record = row.newRecord(row.count - 1)
  standing.set(record, ready)
  return {
    state: {
      ...state,
      tree: appendRun(tree, row, record),
      clock: clockAfterBlock(state, timestamp, options.now, options.timestamp !== undefined),
    },
    records: [record],
    dropped: [],
  }
}

/** Seconds, of the block that was mined last. */
function newestTime({ miner: { row } }: Standing): bigint {
  const { count, template } = row
  return count === 0 ? template.parent.block.header.timestamp : row.timestampAt(count - 1)
}

/**
 * Takes note of a block that was mined as any other. After several empty ones in a row a miner is made for those that may
 * follow: the more slots it has to take over, the later.
 */
export async function noteBlock(state: ChainState, now: number): Promise<void> {
  const { tree } = state
  const head = headOf(tree)
  if (head.executed.length > 0 || head.block.header.timestamp >= LATEST) return
  const parent = blockByNumber(tree, head.block.header.number - 1n)
  const streak = streakAfter(parent, now)
  const isSlow = streak.blocks >= LEAST_STREAK && now - streak.since >= SLOW_STREAK_MS
  if (!isSlow && streak.blocks < LEAST_STREAK + slotsOf(tree) / SLOTS_PER_BLOCK) {
    standing.set(head, streak)
    return
  }
  const environment = nextBlockEnvironment(state, now)
  const told = toldOf(head.world, environment)
  // otherwise it is asked again after as many blocks
  if (told === undefined || !isLikeHead(state, environment)) return
  standing.set(head, await newMiner(state, told))
}

function streakAfter(parent: BlockRecord | undefined, now: number): Streak {
  const before = parent === undefined ? undefined : standing.get(parent)
  return before === undefined || 'miner' in before
    ? { blocks: 1, since: now }
    : { blocks: before.blocks + 1, since: before.since }
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
  const head = headOf(state.tree)
  const told = toldOf(head.world, environment)
  if (told === undefined || !isLikeHead(state, environment)) return undefined
  const count = alikeCount(state, request.blocks, timestampAt)
  if (count < LEAST_RUN) return undefined
  if (count > MOST_SEALED) return longRun(state, count, timestampAt)
  if (timestampAt(count - 1) > LATEST) return undefined
  const ready = takeReady(state, head, request.now)
  if (ready === undefined && SLOTS_PER_BLOCK * count < slotsOf(state.tree)) return undefined
  return sealedRun(state, ready ?? (await newMiner(state, told)), {
    ...request,
    count,
    timestampAt,
  })
}

/** A run without hashes of its own, up to where the sealed ones begin again. */
function longRun(
  state: ChainState,
  count: number,
  timestampAt: (index: number) => bigint,
): MinedRun {
  const run = new LongRun({
    parent: headOf(state.tree),
    count: count - Number(SEALED_TAIL),
    timestampAt,
    abandoned: state.tree.abandoned,
  })
  const tree = appendRun(state.tree, run, run.recordAt(run.count - 1))
  return { state: { ...state, tree }, blocks: BigInt(run.count) }
}

interface SealedRequest extends Pick<RunRequest, 'yieldIfDue'> {
  readonly count: number
  readonly timestampAt: (index: number) => bigint
}

async function sealedRun(
  state: ChainState,
  ready: Standing,
  { count, timestampAt, yieldIfDue }: SealedRequest,
): Promise<MinedRun | undefined> {
  const { miner } = ready
  const { row } = miner
  const start = row.count
  await yieldIfDue()
  while (row.count < start + count) {
    const index = row.count - start
    const length = Math.min(BREATH, count - index)
    const times = Array.from({ length }, (_, at) => Number(timestampAt(index + at)))
    if (miner.mine(times) < length) break
    await yieldIfDue()
  }
  const mined = row.count - start
  if (mined === 0) return undefined
  const last = row.newRecord(row.count - 1)
  standing.set(last, ready)
  return { state: { ...state, tree: appendRun(state.tree, row, last) }, blocks: BigInt(mined) }
}

async function newMiner(state: ChainState, told: Told): Promise<Standing> {
  // not needed by a node that mines transactions, and a moment to compile
  const { RunMiner } = await import('./runminer.ts')
  const { config, settings, pool, tree } = state
  const miner = new RunMiner({ parent: headOf(tree), abandoned: tree.abandoned }, told)
  return { config, settings, pool, miner }
}

/** The miner that stands ready for the next block, if that is empty; it is nobody else's until it stands ready again. */
function takeReady(state: ChainState, head: BlockRecord, now: number): Standing | undefined {
  const ready = standing.get(head)
  if (ready === undefined || !('miner' in ready)) return undefined
  const { config, settings, pool } = state
  const isLike =
    ready.config === config &&
    ready.settings === settings &&
    (ready.pool === pool || isIdle(state, nextBlockEnvironment(state, now))) &&
    hasNoUncles(state)
  if (!isLike) return undefined
  standing.delete(head)
  return ready.pool === pool ? ready : { ...ready, pool }
}

/** True when nothing that waits can be mined in the next block. */
function isIdle({ pool, tree }: ChainState, next: BlockEnvironment): boolean {
  return pool.size === 0 || new Candidates(pool, headOf(tree).world, next).best === undefined
}

/** Slots of the rings of system contracts, at most. */
function slotsOf({ canonical }: BlockTree): number {
  return 2 * Math.min(Number(RING), canonical.length)
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
  const { tree, settings, config, clock } = state
  const { block, executed, world } = headOf(tree)
  return (
    executed.length === 0 &&
    block.uncles.length === 0 &&
    block.withdrawals.length === 0 &&
    settings.nextPrevRandao === undefined &&
    settings.nextBaseFee === undefined &&
    clock.nextTimestamp === undefined &&
    hasHeaderOf(block.header, next, settings.extraData) &&
    isIdle(state, next) &&
    hasNoUncles(state) &&
    withRewards(world, config, next.hardfork, block.header, []) === world &&
    hasNoRequests(world, next.hardfork)
  )
}

/** True when an empty block in this environment has such a header, but for number, time, hashes and randomness. */
function hasHeaderOf(header: Header, next: BlockEnvironment, extraData: Uint8Array): boolean {
  const { parentHash, stateRoot, number, timestamp, mixHash } = header
  const requestsHash = EMPTY_REQUESTS_HASH
  const contents = { transactions: [], receipts: [], stateRoot, requestsHash, extraData }
  const empty = headerOf(next, parentHash, contents)
  return equalBytes(encodeHeader({ ...empty, number, timestamp, mixHash }), encodeHeader(header))
}

/** True when the next block includes no uncles. */
function hasNoUncles({ config, tree }: ChainState): boolean {
  return config.options.maxUncles === 0 || !mayHaveUncles(tree)
}

/** How many of the next blocks have the same rules, at most as many as wanted: exact, or half as many, or half of that… */
function alikeCount(
  { config, tree }: ChainState,
  wanted: bigint,
  timestampAt: (index: number) => bigint,
): number {
  const next = BigInt(tree.canonical.length)
  const placeAt = (index: number): Place => [next + BigInt(index), timestampAt(index)]
  const first = placeAt(0)
  let count = Number(wanted)
  while (count > 0 && !isSameRule(config, first, placeAt(count - 1))) count = Math.floor(count / 2)
  return count
}

/** A block's number and timestamp. */
type Place = readonly [number: bigint, timestamp: bigint]

/** True when no rules change after one of them up to the other. */
function isSameRule({ forkPoints }: ChainConfig, one: Place, other: Place): boolean {
  return (
    isSameSide(forkPoints.blocks, one[0], other[0]) &&
    isSameSide(forkPoints.times, one[1], other[1])
  )
}

function isSameSide(points: readonly bigint[], one: bigint, other: bigint): boolean {
  return points.every((point) => point <= one === point <= other)
}
