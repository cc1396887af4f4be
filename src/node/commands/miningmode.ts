// Commands that set when blocks are mined.
import { invalidParams } from '../../core/errors.ts'
import type { Executor } from '../../evm/executor.ts'
import { headChange, headOf } from '../ledger/blocktree.ts'
import { type BlockRange, NO_BLOCKS } from '../ledger/canonicalchain.ts'
import type { ChainState, MiningMode } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { intervalOf, isInstant } from '../ledger/miningmode.ts'
import { mineWaiting } from '../mining/miner.ts'
import { pendingOf } from '../pool/pool.ts'
import { mine } from './mine.ts'

/** Pauses instant and interval mining: transactions wait until `startMining` or `mine`. */
export function stopMining(state: ChainState): Change<undefined> {
  return { state: { ...state, mining: { ...state.mining, stopped: true } }, value: undefined }
}

export async function startMining(
  executor: Executor,
  state: ChainState,
  now: number,
): Promise<Change<BlockRange>> {
  const { mode } = state.mining
  const resumed = mode.kind === 'manual' ? ({ kind: 'instant' } as const) : mode
  const started = await setMiningMode(executor, state, resumed, now)
  const { mining, pool, tree } = started.state
  const isWaiting = pendingOf(pool, headOf(tree).world).length > 0
  if (!isWaiting || intervalOf(mining) === undefined) return started
  return mine(executor, started.state, { now })
}

/**
 * Also while mining is stopped. Instant mining mines waiting transactions at once (or, where chains behave so, with the
 * next transaction); interval mining after the first interval. Its value is the blocks mined at once.
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

export function checkMode(mode: MiningMode): void {
  if (mode.kind !== 'interval') return
  const { intervalMs, longestMs = intervalMs } = mode
  const isNumber = Number.isFinite(intervalMs) && Number.isFinite(longestMs)
  if (isNumber && intervalMs >= 1 && longestMs >= intervalMs && longestMs < 2 ** 31) return
  const got = longestMs === intervalMs ? `${intervalMs}` : `${intervalMs} to ${longestMs}`
  throw invalidParams(`expected an interval of 1 to ${2 ** 31 - 1} milliseconds, got ${got}`)
}
