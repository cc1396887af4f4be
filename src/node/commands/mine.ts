// The command that mines blocks in any mining mode.
import { getHeapStatistics } from 'node:v8'
import { invalidParams, limitExceeded } from '../../core/errors.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import { MAX_TIMESTAMP } from '../../protocol/timestamps.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { BlockRange } from '../ledger/canonicalchain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change, DroppedTransaction } from '../ledger/change.ts'
import { checkTimestamp, nextTimestamps, timestampIn } from '../ledger/clock.ts'
import type { BulkMining, MinedRun } from '../mining/bulkmining.ts'
import { appendDerived, MOST_SEALED } from '../mining/derivedrun.ts'
import { alikeBlocks, type RunRequest } from '../mining/emptyblocks.ts'
import { type BegunBlock, type Mined, type MineOptions, mineBlock } from '../mining/miner.ts'

/** Most blocks of a chain: above, JavaScript numbers are not exact. */
const MAX_HEIGHT = BigInt(Number.MAX_SAFE_INTEGER)

/** Share of node's heap at which mining many blocks fails. */
const MEMORY_SHARE = 0.85

/** Most blocks of one command with a randomness that was set and continues: each is mined by itself. */
const LONG = 1_000n

export interface MineRequest {
  readonly now: number
  readonly blocks?: bigint | undefined
  /** Of the first block, in seconds; by default the clock's. */
  readonly timestamp?: bigint | undefined
  readonly interval?: bigint | undefined
  readonly bulk?: BulkMining | undefined
  /** The first block, if it was begun ahead. */
  readonly begun?: BegunBlock | undefined
}

/**
 * Mines blocks, empty ones too, in any mining mode. Empty blocks in a row are kept as one run. Above 1,000,000 their
 * hashes are not those of their headers (see `DerivedRun`), except for the last 8,192.
 * @returns the new blocks, oldest first
 * @throws {DevchainError} `INVALID_PARAMS` for a timestamp that is not after the newest block's, a time beyond 64 bits
 *   or a negative number; `LIMIT_EXCEEDED` for more than 2^53 blocks, or more than memory holds
 */
export function mine(
  executor: Executor,
  state: ChainState,
  request: MineRequest,
): MaybePromise<Change<BlockRange>> {
  const { now, blocks = 1n, timestamp, begun } = request
  // bulk mining needs all nodes of the state trie, and a fork has only some
  const bulk = headOf(state.tree).world.accounts.isBacked ? undefined : request.bulk
  checkBlocks(state, blocks)
  if (timestamp !== undefined) checkTimestamp(state, timestamp)
  if (blocks !== 1n) return mineSeveral(executor, state, { ...request, bulk }, blocks)
  const next = mineNext(executor, state, { now, timestamp, begun }, bulk)
  return whenThere(next, (mined) => minedSince(state, mined))
}

async function mineSeveral(
  executor: Executor,
  state: ChainState,
  { now, timestamp, interval, bulk, begun }: MineRequest,
  blocks: bigint,
): Promise<Change<BlockRange>> {
  const dropped: DroppedTransaction[] = []
  let current = blocks > LONG ? withDerivedRandomness(state) : state
  let left = blocks
  const yieldIfDue = yielder(undefined, () => {
    checkMemory(blocks - left, blocks)
    return executor.rest()
  })
  while (left > 0n) {
    // the last block sets the clock, and the first may differ from the others
    if (left < blocks && left > 1n) {
      checkSpaced(timestampIn(nextTimestamps(current, now, interval), Number(left - 1n)))
      const wanted = { now, blocks: left - 1n, interval }
      const run = await mineRun(current, wanted, yieldIfDue, bulk)
      current = run?.state ?? current
      left -= run?.blocks ?? 0n
    }
    const next =
      left === blocks
        ? { now, timestamp, begun }
        : { now, timestamp: spaced(current, now, interval) }
    const mined = await mineNext(executor, current, next, bulk)
    current = mined.state
    left -= 1n
    dropped.push(...mined.dropped)
    await yieldIfDue()
  }
  return minedSince(state, { state: current, dropped })
}

function withDerivedRandomness(state: ChainState): ChainState {
  if (state.settings.laterPrevRandao === undefined) return state
  return { ...state, settings: { ...state.settings, laterPrevRandao: undefined } }
}

function minedSince(
  { tree }: ChainState,
  { state, dropped }: Pick<Mined, 'state' | 'dropped'>,
): Change<BlockRange> {
  return { state, value: state.tree.canonical.range(tree.canonical.length), dropped }
}

/** Undefined if the next block is not empty and like the newest. More than `MOST_SEALED` get derived hashes. */
async function mineRun(
  state: ChainState,
  request: RunRequest,
  yieldIfDue: YieldIfDue,
  bulk: BulkMining | undefined,
): Promise<MinedRun | undefined> {
  if (bulk === undefined && request.blocks <= MOST_SEALED) return undefined
  const alike = alikeBlocks(state, request)
  if (alike === undefined) return undefined
  if (alike.count > MOST_SEALED) return appendDerived(state, alike)
  return bulk?.mineRun(state, alike, request.now, yieldIfDue)
}

function mineNext(
  executor: Executor,
  state: ChainState,
  options: MineOptions,
  bulk: BulkMining | undefined,
): MaybePromise<Mined> {
  const mineAny = async (): Promise<Mined> => {
    const mined = await mineBlock(executor, state, options)
    await bulk?.noteBlock(mined.state, options.now)
    return mined
  }
  return bulk?.mineNext(state, options) ?? mineAny()
}

function checkSpaced(last: bigint): void {
  if (last <= MAX_TIMESTAMP) return
  const message = `expected times of at most ${MAX_TIMESTAMP} seconds, got ${last} for the last of the blocks`
  throw invalidParams(message)
}

/** A block with transactions takes some 8 kB. Failing here keeps the chain; running out of memory would end the process. */
function checkMemory(mined: bigint, blocks: bigint): void {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  if (used < MEMORY_SHARE * limit) return
  const megabytes = Math.floor(limit / 2 ** 20)
  const message = `not enough memory for ${blocks} blocks: ${mined} of them filled ${megabytes} MB; none was kept. Mine fewer, or start node with a larger --max-old-space-size`
  throw limitExceeded(message)
}

function checkBlocks({ tree }: ChainState, blocks: bigint): void {
  if (blocks < 0n) throw invalidParams(`expected a number of blocks, got ${blocks}`)
  const room = MAX_HEIGHT - BigInt(tree.canonical.length)
  if (blocks <= room) return
  throw limitExceeded(`expected at most ${room} more blocks, got ${blocks}`)
}

/** The timestamp `interval` seconds after the head, or the earliest valid one; undefined without an interval. */
function spaced(state: ChainState, now: number, interval: bigint | undefined): bigint | undefined {
  if (interval === undefined) return undefined
  const timestamp = timestampIn(nextTimestamps(state, now, interval), 0)
  checkSpaced(timestamp)
  return timestamp
}
