// What a caller can do to a chain besides sending: each command makes the next state of a state.
import { getHeapStatistics } from 'node:v8'
import { DevchainError } from '../../core/errors.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import { MAX_TIMESTAMP } from '../../protocol/timestamps.ts'
import { blockGasError } from '../../protocol/validity.ts'
import { nonceAt } from '../../state/world.ts'
import type { AccountBook } from '../accounts/accounts.ts'
import { mineAlike, mineRun, noteBlock } from '../bulk/emptyblocks.ts'
import type { Order } from '../chain/recall.ts'
import { headChange, headOf } from '../ledger/blocktree.ts'
import { type BlockRange, NO_BLOCKS } from '../ledger/canonicalchain.ts'
import type { ChainState, MiningMode, Settings, Snapshot } from '../ledger/chainstate.ts'
import type { Change, DroppedTransaction } from '../ledger/change.ts'
import {
  checkTimestamp,
  clockShift,
  increasedTime,
  nextTimestamps,
  withInterval,
  withNextTimestamp,
  withTime,
} from '../ledger/clock.ts'
import { intervalOf, isInstant } from '../ledger/miningmode.ts'
import { checkName, snapshotById, snapshotNamed, withoutSnapshot } from '../ledger/snapshots.ts'
import { type Mined, type MineOptions, mineBlock, mineWaiting } from '../mining/miner.ts'
import { nextNonce, pooledInOrder, withoutTransactions } from '../pool/pool.ts'

/** Blocks that a chain may have: beyond, numbers would not be exact where they are counted. */
const MAX_HEIGHT = BigInt(Number.MAX_SAFE_INTEGER)

/** Milliseconds of mining after which other work gets a turn. A request may need two: one to be read, one for its reply. */
const TURN_MS = 10

/** How much of node's heap may be full before a command that mines many blocks is given up. */
const MEMORY_SHARE = 0.85

/** What is to be mined. */
export interface MineRequest {
  /** Wall time in milliseconds. */
  readonly now: number
  /** 1n when left out. */
  readonly blocks?: bigint | undefined
  /** Of the first block, in seconds; undefined: what the clock says. */
  readonly timestamp?: bigint | undefined
  /** Seconds from each block to the next; undefined: what the clock says. */
  readonly interval?: bigint | undefined
}

/**
 * Keeps the state under a new id, from 1 on and never given twice. Nothing is copied. A snapshot lives until an older
 * one is reverted to, or the chain is reset: what it holds beyond the present state stays in memory until then.
 */
export function takeSnapshot(state: ChainState): Change<number> {
  const id = state.nextSnapshotId
  const newestSnapshot: Snapshot = { id, name: undefined, state: withoutNames(state) }
  return { state: { ...state, newestSnapshot, nextSnapshotId: id + 1 }, value: id }
}

/**
 * Keeps the state under a name, in place of what had the name before. It lives until the chain is reset, whatever is
 * reverted to, and however often.
 * @throws {DevchainError} `INVALID_PARAMS` for what can be no name, `LIMIT_EXCEEDED` for one name too many
 */
export function takeNamedSnapshot(state: ChainState, name: string): Change<Snapshot> {
  checkName(state, name)
  const id = state.nextSnapshotId
  const snapshot: Snapshot = { id, name, state: withoutNames(state) }
  const namedSnapshots = new Map(state.namedSnapshots).set(name, snapshot)
  return { state: { ...state, namedSnapshots, nextSnapshotId: id + 1 }, value: snapshot }
}

/**
 * Goes back to a snapshot: blocks, accounts, pool, clock, settings, mining mode, keys. Snapshots taken after it are
 * forgotten but for those with names; it stays itself, unless it has no name and the chain consumes snapshots.
 * @returns false when there is no snapshot of that id, and then nothing changes
 */
export function revertTo(state: ChainState, id: number): Change<boolean> {
  const snapshot = snapshotById(state, id)
  if (snapshot === undefined) return { state, value: false }
  const after = backAt(state, snapshot)
  if (!state.config.options.consumeSnapshots) return { state: after, value: true }
  return { state: { ...after, newestSnapshot: snapshot.state.newestSnapshot }, value: true }
}

/**
 * Goes back to a snapshot by its name or id, and keeps it, also where the chain consumes snapshots.
 * @throws {DevchainError} `NOT_FOUND` when there is none
 */
export function returnTo(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: backAt(state, snapshot), value: snapshot }
}

/**
 * Forgets a snapshot, and what it holds beyond the others and the present state. A name is free again; an id is not.
 * @throws {DevchainError} `NOT_FOUND` when there is none
 */
export function dropSnapshot(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: withoutSnapshot(state, snapshot), value: snapshot }
}

/** The state of a snapshot, with what no way back brings back. Those without names that it had are there again. */
function backAt(state: ChainState, snapshot: Snapshot): ChainState {
  const { namedSnapshots, nextSnapshotId, resets } = state
  const kept = snapshot.state
  const newestSnapshot = snapshot.name === undefined ? snapshot : kept.newestSnapshot
  return { ...kept, newestSnapshot, namedSnapshots, nextSnapshotId, resets }
}

/** A state to be kept: with its names it would keep what they stood for, long after they were taken anew. */
function withoutNames(state: ChainState): ChainState {
  return state.namedSnapshots.size === 0 ? state : { ...state, namedSnapshots: new Map() }
}

/** How a reset is asked for: what still runs is given up. */
export const RESET: Order = { takesBack: 'was reset' }

/** How a revert is asked for: where there is such a snapshot, what still runs is given up. */
export function revertOrder(state: ChainState, nameOrId: string | number): Order {
  const snapshot =
    typeof nameOrId === 'string'
      ? state.namedSnapshots.get(nameOrId)
      : snapshotById(state, nameOrId)
  return snapshot === undefined ? {} : { takesBack: 'was reverted to a snapshot' }
}

/** Goes back to the genesis and everything as it was then. Snapshots and the pool are forgotten; ids go on. */
export function reset(state: ChainState): Change<undefined> {
  const origin = state.origin ?? state
  const { nextSnapshotId, resets } = state
  return { state: { ...origin, origin, nextSnapshotId, resets: resets + 1 }, value: undefined }
}

/**
 * Mines blocks, empty ones too, whatever the mining mode. Empty blocks in a row are kept as one; of more than 1,000,000
 * the hashes are not those of their headers (see `LongRun`), but for the last 8,192.
 * @returns the new blocks, oldest first
 * @throws {DevchainError} `INVALID_PARAMS` for a timestamp that is not after the newest block's, a time beyond 64 bits or
 *   a negative number; `LIMIT_EXCEEDED` for more than 2^53 blocks, or more than memory holds
 */
export function mine(
  executor: Executor,
  state: ChainState,
  request: MineRequest,
): MaybePromise<Change<BlockRange>> {
  const { now, blocks = 1n, timestamp } = request
  checkBlocks(state, blocks)
  if (timestamp !== undefined) checkTimestamp(state, timestamp)
  if (blocks !== 1n) return mineSeveral(executor, state, request, blocks)
  const next = mineNext(executor, state, { now, timestamp })
  return whenThere(next, (mined) => minedSince(state, mined))
}

async function mineSeveral(
  executor: Executor,
  state: ChainState,
  { now, timestamp, interval }: MineRequest,
  blocks: bigint,
): Promise<Change<BlockRange>> {
  const dropped: DroppedTransaction[] = []
  let current = state
  let left = blocks
  const yieldIfDue = yielder(TURN_MS, () => {
    checkMemory(blocks - left, blocks)
    return executor.rest()
  })
  while (left > 0n) {
    // the last block sets the clock, and the first may be unlike all others
    if (left < blocks && left > 1n) {
      checkLastTimestamp(current, now, interval, left)
      const run = await mineRun(current, { now, blocks: left - 1n, interval, yieldIfDue })
      current = run?.state ?? current
      left -= run?.blocks ?? 0n
    }
    const exact = left === blocks ? timestamp : spaced(current, interval)
    const mined: Mined = await mineNext(executor, current, { now, timestamp: exact })
    current = mined.state
    left -= 1n
    dropped.push(...mined.dropped)
    await yieldIfDue()
  }
  return minedSince(state, { state: current, dropped })
}

function minedSince(
  { tree }: ChainState,
  { state, dropped }: Pick<Mined, 'state' | 'dropped'>,
): Change<BlockRange> {
  return { state, value: state.tree.canonical.range(tree.canonical.length), dropped }
}

/**
 * Moves the clock ahead for good.
 * @returns the sum of all increases, in seconds
 * @throws {DevchainError} `INVALID_PARAMS` for a negative number or a time beyond 64 bits
 */
export function increaseTime(state: ChainState, seconds: bigint, now: number): Change<bigint> {
  const clock = increasedTime(state, seconds, now)
  return { state: { ...state, clock }, value: clock.offset }
}

/**
 * Gives the next block an exact timestamp; time goes on from there.
 * @throws {DevchainError} `INVALID_PARAMS` when it is not after the newest block's
 */
export function setNextTimestamp(state: ChainState, timestamp: bigint): Change<undefined> {
  return { state: { ...state, clock: withNextTimestamp(state, timestamp) }, value: undefined }
}

/**
 * Sets the clock, which goes on from there.
 * @returns seconds by which it is now ahead of its source; negative when it is behind
 * @throws {DevchainError} `INVALID_PARAMS` when it is not after the newest block's time
 */
export function setTime(state: ChainState, timestamp: bigint, now: number): Change<bigint> {
  const clock = withTime(state, timestamp, now)
  return { state: { ...state, clock }, value: clockShift(clock) }
}

/**
 * Sets the seconds from each block to the next, in place of what the clock's source says; undefined ends that.
 * @throws {DevchainError} `INVALID_PARAMS` for a time beyond 64 bits
 */
export function setBlockInterval(
  state: ChainState,
  interval: bigint | undefined,
): Change<undefined> {
  return { state: { ...state, clock: withInterval(state, interval) }, value: undefined }
}

/** Holds instant and interval mining back: transactions wait until `startMining` or `mine`. */
export function stopMining(state: ChainState): Change<undefined> {
  return { state: { ...state, mining: { ...state.mining, stopped: true } }, value: undefined }
}

/**
 * Resumes instant or interval mining and mines what waits; a chain that mined by hand begins to mine instantly.
 * @returns the blocks mined on the spot
 */
export async function startMining(
  executor: Executor,
  state: ChainState,
  now: number,
): Promise<Change<BlockRange>> {
  const { mode } = state.mining
  const resumed = mode.kind === 'manual' ? ({ kind: 'instant' } as const) : mode
  const started = await setMiningMode(executor, state, resumed, now)
  const isWaiting = intervalOf(started.state.mining) !== undefined && hasPending(started.state)
  return isWaiting ? mine(executor, started.state, { now }) : started
}

/**
 * Sets when blocks are mined, also where mining was stopped. Instant mining mines what waits at once (or, where chains
 * behave so, with the next transaction), interval mining when the first interval is over.
 * @returns the blocks mined on the spot
 * @throws {DevchainError} `INVALID_PARAMS` for an interval that no timer can keep
 */
export async function setMiningMode(
  executor: Executor,
  state: ChainState,
  mode: MiningMode,
  now: number,
): Promise<Change<BlockRange>> {
  checkMode(mode)
  const resumed: ChainState = { ...state, mining: { mode, stopped: false } }
  const leaves = !isInstant(resumed.mining) || !state.config.behaviour.automineMinesPool
  if (leaves) return { state: resumed, value: NO_BLOCKS }
  const { state: after, dropped } = await mineWaiting(executor, resumed, now)
  return { state: after, value: headChange(state.tree, after.tree).added, dropped }
}

/** Sets the gas limit of the blocks to come. What none of them could hold waits, or leaves the pool. */
export function setGasLimit(state: ChainState, blockGasLimit: bigint): Change<undefined> {
  const settings = { ...state.settings, blockGasLimit }
  if (!state.config.behaviour.limitEmptiesPool)
    return { state: { ...state, settings }, value: undefined }
  const dropped = pooledInOrder(state.pool)
    .filter(({ transaction }) => transaction.gasLimit > blockGasLimit)
    .map(({ transaction }) => ({
      transaction,
      error: blockGasError(transaction.gasLimit, blockGasLimit),
    }))
  const pool = withoutTransactions(
    state.pool,
    dropped.map(({ transaction }) => transaction),
  )
  return { state: { ...state, settings, pool }, value: undefined, dropped }
}

/** Changes settings; those not named stay. */
export function changeSettings(state: ChainState, settings: Partial<Settings>): Change<undefined> {
  return { state: { ...state, settings: { ...state.settings, ...settings } }, value: undefined }
}

/** Puts another account book in place: after a key was added, unlocked or locked, or an account impersonated. */
export function changeAccounts(state: ChainState, accounts: AccountBook): Change<undefined> {
  return { state: { ...state, accounts }, value: undefined }
}

/** Refuses an interval that would not be one. */
export function checkMode(mode: MiningMode): void {
  if (mode.kind !== 'interval') return
  const { intervalMs, longestMs = intervalMs } = mode
  const isNumber = Number.isFinite(intervalMs) && Number.isFinite(longestMs)
  if (isNumber && intervalMs >= 1 && longestMs >= intervalMs && longestMs < 2 ** 31) return
  const got = longestMs === intervalMs ? `${intervalMs}` : `${intervalMs} to ${longestMs}`
  const message = `expected an interval of 1 to ${2 ** 31 - 1} milliseconds, got ${got}`
  throw new DevchainError('INVALID_PARAMS', message)
}

function mineNext(
  executor: Executor,
  state: ChainState,
  options: MineOptions,
): MaybePromise<Mined> {
  return mineAlike(state, options) ?? mineAny(executor, state, options)
}

async function mineAny(
  executor: Executor,
  state: ChainState,
  options: MineOptions,
): Promise<Mined> {
  const mined = await mineBlock(executor, state, options)
  await noteBlock(mined.state, options.now)
  return mined
}

/** All blocks before the last have earlier times, and fit when it does. */
function checkLastTimestamp(
  state: ChainState,
  now: number,
  interval: bigint | undefined,
  blocks: bigint,
): void {
  checkSpaced(nextTimestamps(state, now, interval)(Number(blocks - 1n)))
}

function checkSpaced(last: bigint): void {
  if (last <= MAX_TIMESTAMP) return
  const message = `expected times of at most ${MAX_TIMESTAMP} seconds, got ${last} for the last of the blocks`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** A block with transactions keeps some 8 kB. A refusal leaves the chain as it was; running out of memory would end it. */
function checkMemory(mined: bigint, blocks: bigint): void {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  if (used < MEMORY_SHARE * limit) return
  const megabytes = Math.floor(limit / 2 ** 20)
  const message = `not enough memory for ${blocks} blocks: ${mined} of them filled ${megabytes} MB; none was kept. Mine fewer, or start node with a larger --max-old-space-size`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}

function checkBlocks({ tree }: ChainState, blocks: bigint): void {
  if (blocks < 0n) {
    throw new DevchainError('INVALID_PARAMS', `expected a number of blocks, got ${blocks}`)
  }
  const room = MAX_HEIGHT - BigInt(tree.canonical.length)
  if (blocks <= room) return
  const message = `expected at most ${room} more blocks, got ${blocks}`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}

/** The timestamp `interval` seconds after the head; undefined without an interval. A block never has its parent's. */
function spaced(state: ChainState, interval: bigint | undefined): bigint | undefined {
  if (interval === undefined) return undefined
  const timestamp = headOf(state.tree).block.header.timestamp + (interval > 0n ? interval : 1n)
  checkSpaced(timestamp)
  return timestamp
}

function hasPending({ pool, tree }: ChainState): boolean {
  const { world } = headOf(tree)
  for (const [sender] of pool.bySender.entries()) {
    if (nextNonce(pool, world, sender) > nonceAt(world, sender)) return true
  }
  return false
}
