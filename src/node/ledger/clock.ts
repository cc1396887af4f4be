// The chain's clock: the time of the next block.
import { larger } from '../../core/bigints.ts'
import { DevchainError, invalidParams, limitExceeded } from '../../core/errors.ts'
import type { ClockSource } from '../../options/values.ts'
import { MAX_TIMESTAMP } from '../../protocol/timestamps.ts'
import { headOf } from './blocktree.ts'
import type { ChainState, ClockState } from './chainstate.ts'

export function newClock(source: ClockSource, adjustment = 0n): ClockState {
  return { source, offset: 0n, adjustment, nextTimestamp: undefined, interval: undefined }
}

/** Seconds from the source to the chain's time. The log shows time jumps as a difference of it. */
export function clockShift({ offset, adjustment }: ClockState): bigint {
  return offset + adjustment
}

/** Later than `parent`, or equal where blocks may share a time. Throws `LIMIT_EXCEEDED` beyond 64 bits. */
export function nextTimestamp(
  state: ChainState,
  now: number,
  parent: bigint = headOf(state.tree).block.header.timestamp,
): bigint {
  const { nextTimestamp: set } = state.clock
  const next =
    set === undefined
      ? timestampIn(nextTimestamps(state, now, state.clock.interval, parent), 0)
      : larger(set, parent + leastStep(state, set < parent))
  requireFits(next)
  return next
}

export function requireFits(timestamp: bigint): void {
  if (timestamp <= MAX_TIMESTAMP) return
  const message = `the next block would be at ${timestamp} seconds, and the latest time of a block is ${MAX_TIMESTAMP}: go back with evm_revert or evm_reset, or set an earlier time`
  throw limitExceeded(message)
}

/** Seconds of blocks by index from 0: the later of two regular rows. */
export interface TimeRows {
  readonly first: bigint
  readonly step: bigint
  readonly least: bigint
  readonly leastStep: bigint
}

export function timestampIn({ first, step, least, leastStep }: TimeRows, index: number): bigint {
  return larger(first + step * BigInt(index), least + leastStep * BigInt(index))
}

/** Of the blocks after `parent`. `interval` is in seconds; undefined follows the clock. */
export function nextTimestamps(
  state: ChainState,
  now: number,
  interval: bigint | undefined = state.clock.interval,
  parent: bigint = headOf(state.tree).block.header.timestamp,
): TimeRows {
  const first = interval === undefined ? chainTime(state, now) : parent + interval
  const leastSpace = leastStep(state, first < parent)
  const least = parent + leastSpace
  const step = interval ?? sourceStep(state.clock.source)
  // a fixed clock falls behind the blocks; a stepping one catches up with them
  const begin = step === 0n ? larger(first, least) : least
  return { first, step, least: begin, leastStep: leastSpace }
}

/** Least seconds between two blocks. `isBehind`: the clock is behind the newest block. */
function leastStep(state: ChainState, isBehind = false): bigint {
  const catchesUp = isBehind && !state.config.behaviour.intervalsMoveClock
  return state.config.options.sameTimestamp && !catchesUp ? 0n : 1n
}

function sourceStep(source: ClockSource): bigint {
  return source.kind === 'step' ? source.seconds : 0n
}

/** The clock continues from an explicit timestamp, not from one of its own. */
export function clockAfterBlock(
  state: ChainState,
  timestamp: bigint,
  now: number,
  exact: boolean,
): ClockState {
  const { clock, config } = state
  const isMoved = clock.interval !== undefined && config.behaviour.intervalsMoveClock
  const isKept = !exact && clock.nextTimestamp === undefined && !isMoved
  return isKept ? clock : movedTo(state, timestamp, now)
}

export function movedTo(state: ChainState, timestamp: bigint, now: number): ClockState {
  const adjustment = state.clock.adjustment + timestamp - chainTime(state, now)
  return { ...state.clock, adjustment, nextTimestamp: undefined }
}

/** Counts from the newest block if that ran ahead. Throws `INVALID_PARAMS` for a time in the past or beyond 64 bits. */
export function increasedTime(state: ChainState, seconds: bigint, now: number): ClockState {
  const { clock } = state
  if (seconds < 0n) {
    const message = `expected a number of seconds, 0 or more, got ${seconds}: time never goes back`
    throw invalidParams(message)
  }
  const parent = headOf(state.tree).block.header.timestamp
  const time = chainTime(state, now)
  const ahead = parent > time ? parent - time : 0n
  if (time + ahead + seconds > MAX_TIMESTAMP) {
    const message = `expected a time of at most ${MAX_TIMESTAMP} seconds, got ${time + ahead} increased by ${seconds}`
    throw invalidParams(message)
  }
  const { increasesMoveSetTime } = state.config.behaviour
  const pinned = clock.nextTimestamp
  if (pinned !== undefined && pinned + seconds > MAX_TIMESTAMP) {
    const message = `expected a time of at most ${MAX_TIMESTAMP} seconds, got ${pinned} (set for the next block) increased by ${seconds}`
    throw invalidParams(message)
  }
  return {
    ...clock,
    offset: clock.offset + seconds,
    adjustment: clock.adjustment + ahead,
    nextTimestamp: pinned !== undefined && increasesMoveSetTime ? pinned + seconds : pinned,
  }
}

/** True if a block with this timestamp may follow the head. */
export function isLateEnough(state: ChainState, timestamp: bigint): boolean {
  return timestamp >= headOf(state.tree).block.header.timestamp + leastStep(state)
}

/** @throws {DevchainError} `INVALID_PARAMS` when no block with this timestamp could follow the head */
export function checkTimestamp(state: ChainState, timestamp: bigint): void {
  const { number, timestamp: newest } = headOf(state.tree).block.header
  if (!isLateEnough(state, timestamp)) {
    const [relation, rule] = state.config.options.sameTimestamp
      ? ['before', 'do not go back']
      : ['not after', 'increase']
    const message = `timestamp ${timestamp} is ${relation} ${newest}, that of the newest block (${number}): block timestamps ${rule}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { timestamp, newest })
  }
  if (timestamp > MAX_TIMESTAMP) {
    const message = `expected a timestamp of at most ${MAX_TIMESTAMP} seconds, got ${timestamp}`
    throw invalidParams(message)
  }
}

function chainTime(state: ChainState, now: number): bigint {
  return sourceTime(state, now) + clockShift(state.clock)
}

/** A source that counts blocks starts at the genesis or the forked block. */
function sourceTime({ clock, tree }: ChainState, now: number): bigint {
  if (clock.source.kind === 'wall') return BigInt(Math.floor(now / 1000))
  const first = tree.network?.number ?? 0
  const beginning = tree.canonical.at(first)!.block.header.timestamp
  const blocks = BigInt(tree.canonical.length - first)
  return beginning + sourceStep(clock.source) * blocks
}
