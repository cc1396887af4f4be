// Commands that set a chain's clock, or the time of its genesis.
import { invalidParams } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { sealBlock } from '../../protocol/blocks/block.ts'
import { MAX_TIMESTAMP } from '../../protocol/timestamps.ts'
import { headOf, treeFrom } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { checkTimestamp, clockShift, increasedTime, movedTo } from '../ledger/clock.ts'

/** Its value is the sum of all increases, in seconds. */
export function increaseTime(state: ChainState, seconds: bigint, now: number): Change<bigint> {
  const clock = increasedTime(state, seconds, now)
  return { state: { ...state, clock }, value: clock.offset }
}

export function setNextTimestamp(state: ChainState, timestamp: bigint): Change<undefined> {
  checkTimestamp(state, timestamp)
  const clock = { ...state.clock, nextTimestamp: timestamp }
  return { state: { ...state, clock }, value: undefined }
}

/** Its value is the shift of the clock from its source in seconds, negative when behind. */
export function setTime(state: ChainState, timestamp: bigint, now: number): Change<bigint> {
  checkTimestamp(state, timestamp)
  const clock = movedTo(state, timestamp, now)
  return { state: { ...state, clock }, value: clockShift(clock) }
}

/** Seconds between blocks, in place of the source's time; undefined ends that. */
export function setBlockInterval(
  state: ChainState,
  interval: bigint | undefined,
): Change<undefined> {
  const { number, timestamp } = headOf(state.tree).block.header
  const most = MAX_TIMESTAMP - timestamp
  if (interval !== undefined && interval > most) {
    const message = `expected an interval of at most ${most} seconds after block ${number} (${timestamp}), got ${interval}: times end at ${MAX_TIMESTAMP}`
    throw invalidParams(message)
  }
  return { state: { ...state, clock: { ...state.clock, interval } }, value: undefined }
}

/** For a genesis without blocks on it, to match that of a peer's chain; undefined if that gives another hash. */
export function withGenesisTime(
  state: ChainState,
  timestamp: bigint,
  wanted: Hash,
): ChainState | undefined {
  const { world, totalDifficulty, block } = headOf(state.tree)
  const sealed = sealBlock({ ...block.header, timestamp }, [])
  if (sealed.hash !== wanted) return undefined
  const tree = treeFrom({ block: sealed, executed: [], world, totalDifficulty })
  const { origin } = state
  return { ...state, tree, origin: origin && { ...origin, tree } }
}
