// The chain's clock: the time of the next block.

import { DevchainError } from '../../core/errors.ts'
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
  const { clock } = state
  const wanted =
    clock.nextTimestamp ??
    (clock.interval === undefined ? chainTime(state, now) : parent + clock.interval)
  const least = parent + leastStep(state, wanted < parent)
  const next = wanted > least ? wanted : least
  requireFits(next)
  return next
}

export function requireFits(timestamp: bigint): void {
  if (timestamp <= MAX_TIMESTAMP) return
  const message = `the next block would be at ${timestamp} seconds, and the latest time of a block is ${MAX_TIMESTAMP}: go back with evm_revert or evm_reset, or set an earlier time`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}

/** Seconds of blocks by index from 0: the later of two regular rows. */
export interface TimeRows {
  readonly first: bigint
  readonly step: bigint
  readonly least: bigint
  readonly leastStep: bigint
}

export function timestampIn({ first, step, least, leastStep }: TimeRows, index: number): bigint {
  const [regular, lowest] = [first + step * BigInt(index), least + leastStep * BigInt(index)]
  return regular > lowest ? regular : lowest
}

function evenRow(first: bigint, step: bigint): TimeRows {
  return { first, step, least: first, leastStep: step }
}

/** Of the next blocks. `interval` is in seconds; undefined follows the clock. */
export function nextTimestamps(
  state: ChainState,
  now: number,
  interval: bigint | undefined = state.clock.interval,
): TimeRows {
  const parent = headOf(state.tree).block.header.timestamp
  if (interval !== undefined) {
    const space = interval > 0n ? interval : leastStep(state)
    return evenRow(parent + space, space)
  }
  const first = chainTime(state, now)
  const leastSpace = leastStep(state, first < parent)
  const step = sourceStep(state.clock.source)
  const wanted = first > parent ? first : parent + leastSpace
  // a fixed clock falls behind the blocks; a stepping one catches up with them
  if (step === 0n) return evenRow(wanted, leastSpace)
  return { first, step, least: parent + leastSpace, leastStep: leastSpace }
}

/** Least seconds between two blocks. `isBehind`: the clock is behind the newest block. */
export function leastStep(state: ChainState, isBehind = false): bigint {
  const catchesUp = isBehind && !state.config.behaviour.intervalsMoveClock
  return sharesTimes(state) && !catchesUp ? 0n : 1n
}

function sharesTimes({ config }: ChainState): boolean {
  return config.options.sameTimestamp
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

function movedTo(state: ChainState, timestamp: bigint, now: number): ClockState {
  const adjustment = state.clock.adjustment + timestamp - chainTime(state, now)
  return { ...state.clock, adjustment, nextTimestamp: undefined }
}

/** Counts from the newest block if that ran ahead. Throws `INVALID_PARAMS` for a time in the past or beyond 64 bits. */
export function increasedTime(state: ChainState, seconds: bigint, now: number): ClockState {
  const { clock } = state
  if (seconds < 0n) {
    const message = `expected a number of seconds, 0 or more, got ${seconds}: time never goes back`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  const parent = headOf(state.tree).block.header.timestamp
  const time = chainTime(state, now)
  const ahead = parent > time ? parent - time : 0n
  if (time + ahead + seconds > MAX_TIMESTAMP) {
    const message = `expected a time of at most ${MAX_TIMESTAMP} seconds, got ${time + ahead} increased by ${seconds}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  const pinned = clock.nextTimestamp
  if (pinned !== undefined && pinned + seconds > MAX_TIMESTAMP) {
    const message = `expected a time of at most ${MAX_TIMESTAMP} seconds, got ${pinned} (set for the next block) increased by ${seconds}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return {
    ...clock,
    offset: clock.offset + seconds,
    adjustment: clock.adjustment + ahead,
    nextTimestamp: pinned === undefined ? undefined : pinned + seconds,
  }
}

export function withTime(state: ChainState, timestamp: bigint, now: number): ClockState {
  checkTimestamp(state, timestamp)
  return movedTo(state, timestamp, now)
}

export function withInterval(state: ChainState, interval: bigint | undefined): ClockState {
  const { number, timestamp } = headOf(state.tree).block.header
  if (interval !== undefined && interval > MAX_TIMESTAMP - timestamp) {
    const message = `expected an interval of at most ${MAX_TIMESTAMP - timestamp} seconds after block ${number} (${timestamp}), got ${interval}: times end at ${MAX_TIMESTAMP}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return { ...state.clock, interval }
}

/** @throws {DevchainError} `INVALID_PARAMS` when no block with this timestamp could follow the head */
export function checkTimestamp(state: ChainState, timestamp: bigint): void {
  const { number, timestamp: newest } = headOf(state.tree).block.header
  if (timestamp < newest + leastStep(state)) {
    const [relation, rule] = sharesTimes(state)
      ? ['before', 'do not go back']
      : ['not after', 'increase']
    const message = `timestamp ${timestamp} is ${relation} ${newest}, that of the newest block (${number}): block timestamps ${rule}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { timestamp, newest })
  }
  if (timestamp > MAX_TIMESTAMP) {
    const message = `expected a timestamp of at most ${MAX_TIMESTAMP} seconds, got ${timestamp}`
    throw new DevchainError('INVALID_PARAMS', message)
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
