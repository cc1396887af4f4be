// Commands that set a chain's clock.
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import {
  clockShift,
  increasedTime,
  withInterval,
  withNextTimestamp,
  withTime,
} from '../ledger/clock.ts'

/** Its value is the sum of all increases, in seconds. */
export function increaseTime(state: ChainState, seconds: bigint, now: number): Change<bigint> {
  const clock = increasedTime(state, seconds, now)
  return { state: { ...state, clock }, value: clock.offset }
}

export function setNextTimestamp(state: ChainState, timestamp: bigint): Change<undefined> {
  return { state: { ...state, clock: withNextTimestamp(state, timestamp) }, value: undefined }
}

/** Its value: seconds by which the clock is now ahead of its source; negative when it is behind. */
export function setTime(state: ChainState, timestamp: bigint, now: number): Change<bigint> {
  const clock = withTime(state, timestamp, now)
  return { state: { ...state, clock }, value: clockShift(clock) }
}

/** Seconds from each block to the next, in place of what the clock's source says; undefined ends that. */
export function setBlockInterval(
  state: ChainState,
  interval: bigint | undefined,
): Change<undefined> {
  return { state: { ...state, clock: withInterval(state, interval) }, value: undefined }
}
