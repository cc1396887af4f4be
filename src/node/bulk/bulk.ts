// Accelerator: mines empty blocks in WebAssembly by changing only what differs from the block before (benchmark rows
// mine100kMs and minePerS). The plain twin is mining/miner.ts, which makes the same hashes; tests compare the two. The
// door is `bulk` in create.ts.
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import { RING } from '../../state/systemslots.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { appendRun, type BlockTree, blockByNumber, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { StateChange } from '../ledger/change.ts'
import { clockAfterBlock, nextTimestamp, timestampIn } from '../ledger/clock.ts'
import type { BulkMining, MinedRun } from '../mining/bulkmining.ts'
import {
  type AlikeBlocks,
  hasNoUncles,
  haveSameRules,
  isIdle,
  type SystemWrites,
  writesOfAlike,
} from '../mining/emptyblocks.ts'
import { nextBlockEnvironment } from '../mining/environment.ts'
import type { Mined, MineOptions } from '../mining/miner.ts'
import { BATCH } from './runlog.ts'
import type { RunMiner } from './runminer.ts'

const MIN_RUN = 32

/**
 * Blocks mined one by one before a miner of empty blocks is made, and ring slots for each further block: taking over
 * the slots costs as much as mining many blocks.
 */
const MIN_STREAK = 8
const SLOTS_PER_BLOCK = 28

/** Seconds; the miner counts in numbers and has no later timestamps. */
const LATEST = BigInt(Number.MAX_SAFE_INTEGER)

/** A miner whose newest block is the head, for a pool without mineable transactions. */
interface HeadTemplate extends Pick<ChainState, 'config' | 'settings' | 'pool'> {
  readonly miner: RunMiner
}

/** By head: the miner of the next block, or how many empty blocks end with the head. */
const byHead = new WeakMap<BlockRecord, HeadTemplate | number>()

export const bulkMining: BulkMining = { mineNext, mineRun, noteBlock, release }

/** Releases the miner of a former head: it keeps megabytes, and the head may be kept for good. */
function release({ before, after }: StateChange): void {
  const head = headOf(before.tree)
  if (head !== headOf(after.tree)) byHead.delete(head)
}

function mineNext(state: ChainState, options: MineOptions): Mined | undefined {
  const { tree, config } = state
  const head = headOf(tree)
  const template = takeTemplate(state, head, options.now)
  if (template === undefined) return undefined
  const { miner } = template
  const { run, next, newest } = miner
  const timestamp = options.timestamp ?? nextTimestamp(state, options.now, newest)
  const number = BigInt(next)
  const isSame = haveSameRules(config, [number - 1n, newest], [number, timestamp])
  if (!isSame || miner.mine([Number(timestamp)]) === 0) return undefined
  const record = run.newRecord(run.count - 1)
  byHead.set(record, template)
  return {
    state: {
      ...state,
      tree: appendRun(tree, run, record),
      clock: clockAfterBlock(state, timestamp, options.now, options.timestamp !== undefined),
    },
    dropped: [],
  }
}

/** Makes a miner after several empty blocks; the more slots it has to take over, the later. */
async function noteBlock(state: ChainState, now: number): Promise<void> {
  const { tree } = state
  const head = headOf(tree)
  if (head.executed.length > 0 || head.block.header.timestamp >= LATEST) return
  const parent = blockByNumber(tree, head.block.header.number - 1n)
  const before = parent && byHead.get(parent)
  const streak = typeof before === 'number' ? before + 1 : 1
  if (streak < MIN_STREAK + slotsOf(tree) / SLOTS_PER_BLOCK) {
    byHead.set(head, streak)
    return
  }
  const writes = writesOfAlike(state, nextBlockEnvironment(state, now))
  // otherwise it tries again after as many blocks
  if (writes !== undefined) byHead.set(head, await newTemplate(state, writes, yielder()))
}

async function mineRun(
  state: ChainState,
  { count, times, writes }: AlikeBlocks,
  now: number,
  yieldIfDue: YieldIfDue,
): Promise<MinedRun | undefined> {
  if (count < MIN_RUN || timestampIn(times, count - 1) > LATEST) return undefined
  const known = takeTemplate(state, headOf(state.tree), now)
  if (known === undefined && SLOTS_PER_BLOCK * count < slotsOf(state.tree)) return undefined
  const template = known ?? (await newTemplate(state, writes, yieldIfDue))
  const { miner } = template
  const { run } = miner
  const start = run.count
  await yieldIfDue()
  while (run.count < start + count) {
    const index = run.count - start
    const length = Math.min(BATCH, count - index)
    const next = Array.from({ length }, (_, at) => Number(timestampIn(times, index + at)))
    if (miner.mine(next) === 0) break
    await yieldIfDue()
  }
  const mined = run.count - start
  if (mined === 0) return undefined
  const last = run.newRecord(run.count - 1)
  byHead.set(last, template)
  return { state: { ...state, tree: appendRun(state.tree, run, last) }, blocks: BigInt(mined) }
}

async function newTemplate(
  state: ChainState,
  writes: SystemWrites,
  yieldIfDue: YieldIfDue,
): Promise<HeadTemplate> {
  // loaded late: it takes a moment to compile, and a node that mines transactions does not need it
  const { RunMiner } = await import('./runminer.ts')
  const { config, settings, pool, tree } = state
  const template = { parent: headOf(tree), abandoned: tree.abandoned }
  const miner = await RunMiner.after(template, writes, yieldIfDue)
  return { config, settings, pool, miner }
}

/** The miner of the next block, if that is empty. The caller owns it until it is set again. */
function takeTemplate(state: ChainState, head: BlockRecord, now: number): HeadTemplate | undefined {
  const template = byHead.get(head)
  if (typeof template !== 'object') return undefined
  const { config, settings, pool } = state
  const isLike =
    template.config === config &&
    template.settings === settings &&
    (template.pool === pool || isIdle(state, nextBlockEnvironment(state, now))) &&
    hasNoUncles(state)
  if (!isLike) return undefined
  byHead.delete(head)
  return template.pool === pool ? template : { ...template, pool }
}

function slotsOf({ canonical }: BlockTree): number {
  return 2 * Math.min(Number(RING), canonical.length)
}
