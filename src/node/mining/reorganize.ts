// Reorgs: another branch becomes the chain, and the old one's transactions return to the pool.
import { larger } from '../../core/bigints.ts'
import { invalidParams, limitExceeded } from '../../core/errors.ts'
import { yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { nonceAt } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import {
  type BlockTree,
  blockByNumber,
  eligibleUncles,
  type HeadChange,
  headChange,
  headOf,
  transactionPlace,
  truncateTo,
  withBranch,
} from '../ledger/blocktree.ts'
import { NO_BLOCKS } from '../ledger/canonicalchain.ts'
import { type ChainState, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isLateEnough } from '../ledger/clock.ts'
import {
  emptyPool,
  noncesUsedBy,
  POOL_LIMIT,
  type Pool,
  pooledByHash,
  poolFull,
  withoutStale,
  withoutTransactions,
  withReturned,
  withTransaction,
} from '../pool/pool.ts'
import { mineGiven } from './miner.ts'

/** `state` has the branch as its chain, and the block's earlier transactions as its pool. */
export type BranchTransaction = (state: ChainState, now: number) => Transaction

interface Reorganization {
  readonly depth: bigint
  /** Oldest first, each with exactly these transactions. */
  readonly blocks: readonly (readonly BranchTransaction[])[]
  /** When false, transactions of abandoned blocks that the new ones lack are dropped. */
  readonly requeue: boolean
  /** Wall time in milliseconds. */
  readonly now: number
}

export interface Reorganized extends HeadChange {
  /** In the order in which they had been mined. */
  readonly requeued: readonly Transaction[]
}

export const MAX_BRANCH = 10_000

/**
 * Replaces the newest blocks. Each new block has the timestamp of the block it replaces; clock, settings and mining
 * mode stay. The last new block gets enough difficulty for the branch to win. Without new blocks the chain only gets
 * shorter.
 *
 * The pool stays; with `requeue` the abandoned transactions return before the others, and the next block takes them,
 * also under instant mining. Abandoned blocks stay known by hash, and later blocks may include them as uncles.
 * @throws {DevchainError} `INVALID_PARAMS` for a depth that reaches the genesis, `LIMIT_EXCEEDED` for more than 10,000
 *   new blocks, and why a transaction may not be in its block; then nothing changes
 */
export async function reorganize(
  executor: Executor,
  state: ChainState,
  { depth, blocks, requeue, now }: Reorganization,
): Promise<Change<Reorganized>> {
  const fork = forkOf(state, depth)
  if (blocks.length > MAX_BRANCH) {
    throw limitExceeded(`expected at most ${MAX_BRANCH} new blocks, got ${blocks.length}`)
  }
  let branch = onTree(state, truncateTo(state.tree, fork))
  const yieldIfDue = yielder()
  for (const [index, makers] of blocks.entries()) {
    const isLast = index === blocks.length - 1
    const timestamp = timestampAt(state, branch)
    const difficulty = isLast ? winningDifficulty(state, branch) : undefined
    const transactions = made(branch, makers, now)
    const options = { now, timestamp, difficulty }
    branch = (await mineGiven(executor, branch, transactions, options)).state
    await yieldIfDue()
  }
  const head = headChange(state.tree, branch.tree)
  const { tree } = branch
  const returning = requeue ? head : { ...head, removed: NO_BLOCKS }
  const { pool, requeued, dropped } = follow(state.pool, tree, returning)
  return { state: { ...state, tree, pool }, value: { ...head, requeued }, dropped }
}

/**
 * Consecutive blocks, of which the chain takes all or none. Any known parent will do. The last one becomes the head if its
 * branch is the heaviest; the pool follows.
 */
export function adopt(state: ChainState, records: readonly BlockRecord[]): Change<undefined> {
  const tree = withBranch(state.tree, records)
  if (tree === state.tree) return { state, value: undefined }
  const { pool, dropped } = follow(state.pool, tree, headChange(state.tree, tree))
  return { state: { ...state, tree, pool }, value: undefined, dropped }
}

function forkOf({ tree }: ChainState, depth: bigint): bigint {
  const { number } = headOf(tree).block.header
  if (depth >= 1n && depth <= number) return number - depth
  const first = tree.network === undefined ? 'the genesis' : 'the block that was forked'
  const own = number - BigInt(tree.network?.number ?? 0)
  const possible = own === 0n ? `there is only ${first}` : `expected 1 to ${own}`
  throw invalidParams(`depth: cannot replace the newest ${depth} blocks: ${possible}`)
}

/** Another branch, without what waits and without settings that were for the next block alone. */
export function onTree(state: ChainState, tree: BlockTree): ChainState {
  return {
    ...state,
    tree,
    pool: emptyPool,
    clock: { ...state.clock, nextTimestamp: undefined },
    settings: settingsAfterBlock(state.settings),
  }
}

/** The time of the replaced block; undefined beyond the old head, where the clock decides. */
function timestampAt({ tree }: ChainState, branch: ChainState): bigint | undefined {
  const old = blockByNumber(tree, headOf(branch.tree).block.header.number + 1n)
  const timestamp = old?.block.header.timestamp
  return timestamp !== undefined && isLateEnough(branch, timestamp) ? timestamp : undefined
}

/** The settings' difficulty, or what makes the branch heavier. Undefined on a network's chain, whose rules decide. */
function winningDifficulty(
  { tree, settings, config }: ChainState,
  branch: ChainState,
): bigint | undefined {
  if (config.ruleset === 'network') return undefined
  const uncles = eligibleUncles(branch.tree, config.options.maxUncles)
  const reached = uncles.reduce(
    (sum, { block }) => sum + block.header.difficulty,
    headOf(branch.tree).totalDifficulty,
  )
  return larger(headOf(tree).totalDifficulty + 1n - reached, settings.difficulty)
}

/** Their nonces count the block's earlier transactions, but not the pool's. */
function made(
  branch: ChainState,
  makers: readonly BranchTransaction[],
  now: number,
): readonly Transaction[] {
  let pool = emptyPool
  return makers.map((make) => {
    const transaction = make({ ...branch, pool }, now)
    pool = withTransaction(pool, transaction)
    return transaction
  })
}

function follow(
  pool: Pool,
  tree: BlockTree,
  { added, removed }: HeadChange,
): Pick<Reorganized, 'requeued'> & Pick<Change<unknown>, 'dropped'> & { readonly pool: Pool } {
  const { world } = headOf(tree)
  const mined = [...added.filled()].flatMap(({ executed }) => executed)
  const senders = new Set(mined.flatMap(({ transaction }) => noncesUsedBy(transaction)))
  const rest = withoutStale(withoutTransactions(pool, mined), world, senders)
  const isPossible = ({ hash, from, nonce }: Transaction): boolean =>
    transactionPlace(tree, hash) === undefined && nonce >= nonceAt(world, from)
  const returning = [...removed.filled()]
    .reverse()
    .flatMap(({ block }) => block.transactions)
    .filter(isPossible)
  const room = POOL_LIMIT - rest.size
  const followed = withReturned(rest, returning.slice(0, room))
  return {
    pool: followed,
    requeued: returning.filter(({ hash }) => pooledByHash(followed, hash) !== undefined),
    dropped: returning.slice(room).map((transaction) => ({ transaction, error: poolFull() })),
  }
}
