// Block assembly: runs transactions of the pool in order and seals them into a block.
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { BlockEnvironment, Executor } from '../../evm/executor.ts'
import type { Listed } from '../../protocol/blocks/accesslist.ts'
import { cumulativeDifficulty, sealBlock } from '../../protocol/blocks/block.ts'
import { type Header, headerOf, type ListRoots } from '../../protocol/blocks/header.ts'
import { blobGasOf, maxBlobGas } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { stateRoot, type World } from '../../state/world.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import { appendBlock, eligibleUncles, headOf } from '../ledger/blocktree.ts'
import { type ChainState, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { DroppedTransaction } from '../ledger/change.ts'
import { clockAfterBlock } from '../ledger/clock.ts'
import { KeptRecord } from '../ledger/packing/keptrecord.ts'
import { Auction, type Source } from '../pool/auction.ts'
import {
  Candidates,
  noncesUsedBy,
  type Pool,
  withoutMany,
  withoutStale,
  withoutTransactions,
} from '../pool/pool.ts'
import { BlockDraft } from './draft.ts'
import { nextBlockEnvironment, nonceAt } from './environment.ts'
import { pricedOutOf } from './pricedout.ts'
import { withRewards } from './rewards.ts'

export interface Mined {
  readonly state: ChainState
  readonly dropped: readonly DroppedTransaction[]
}

export interface MineOptions {
  /** Wall time in milliseconds. */
  readonly now: number
  /** Seconds; by default the clock's. The caller checks that it is after the parent's. */
  readonly timestamp?: bigint | undefined
  /** By default the settings'. */
  readonly difficulty?: bigint | undefined
  /** To go on with, if it is of this block. The call makes it unusable. */
  readonly begun?: BegunBlock | undefined
  /** Whether a block with so many transactions takes no more of them. */
  readonly isFull?: (executed: number) => boolean
}

interface Assembly {
  readonly world: World
  readonly executed: readonly ExecutedTransaction[]
  readonly dropped: readonly DroppedTransaction[]
  readonly uncles: readonly Header[]
  readonly roots: ListRoots
  readonly logsBloom: Uint8Array
  readonly listed: Listed
}

/** A transaction that does not fit waits; an impossible one is dropped. */
export async function mineBlock(
  executor: Executor,
  state: ChainState,
  options: MineOptions,
): Promise<Mined> {
  const { draft } = await filledBlock(executor, state, options)
  const assembly = await ended(executor, state, draft)
  const whole = withPricedOut(state, draft.block, assembly)
  return appended(executor, state, draft.block, whole, options)
}

/** Mines exactly these transactions in this order, or throws why the first that is missing may not be in the block. */
export async function mineGiven(
  executor: Executor,
  state: ChainState,
  transactions: readonly Transaction[],
  options: MineOptions,
): Promise<Mined> {
  const mined = await mineThose(executor, state, transactions, options)
  const { block, executed } = headOf(mined.state.tree)
  const missing = transactions.find((each, index) => executed[index]?.transaction !== each)
  if (missing === undefined) return mined
  const refused = mined.dropped.find(({ transaction }) => transaction === missing)
  throw refused?.error ?? noRoom(state, missing, block.header)
}

/** Mines those of the transactions that may be in the block and fit, in this order. */
export async function mineThose(
  executor: Executor,
  state: ChainState,
  transactions: readonly Transaction[],
  options: MineOptions,
): Promise<Mined> {
  const { now, timestamp, difficulty } = options
  const given = nextBlockEnvironment(state, now, timestamp)
  const environment = { ...given, difficulty: difficulty ?? given.difficulty }
  const left = [...transactions].reverse()
  const take = (): void => void left.pop()
  const inOrder: Source = {
    get best() {
      return left.at(-1)
    },
    advance: take,
    skip: take,
  }
  const assembly = await assemble(executor, state, environment, inOrder)
  return appended(executor, state, environment, assembly, options)
}

function noRoom(
  { config }: ChainState,
  { hash, gasLimit, blobs }: Transaction,
  { number, timestamp, gasLimit: limit, blobGasUsed = 0n }: Header,
): DevchainError {
  const hardfork = config.hardforkAt(number, timestamp)
  const most = maxBlobGas(hardfork, config.blobRulesAt(number, timestamp))
  const wants =
    blobGasOf({ blobs }) > most - blobGasUsed
      ? `${blobGasOf({ blobs })} blob gas, which block ${number} of ${most}`
      : `${gasLimit} gas, which block ${number} of ${limit}`
  const message = `exceeds block gas limit: transaction ${hash} wants ${wants} has not left`
  return new DevchainError('EXCEEDS_BLOCK_GAS_LIMIT', message)
}

/** Instant mining: each transaction that can be mined gets its own block. Chains that behave so fill their blocks. */
export async function mineWaiting(
  executor: Executor,
  state: ChainState,
  now: number,
): Promise<Mined> {
  const dropped: DroppedTransaction[] = []
  const isSingle = state.config.behaviour.oneTransactionABlock
  const isFull = isSingle ? (executed: number): boolean => executed === 1 : undefined
  const yieldIfDue = yielder(undefined, () => executor.rest())
  // mined transactions stay in the pool until the end: their nonces are used, so they are not offered again
  const mined: Transaction[] = []
  const senders = new Set<Address>()
  let current = state
  let used: readonly Address[] = []
  let auction: Auction | undefined
  while (mined.length < current.pool.size) {
    const environment = nextBlockEnvironment(current, now)
    const { world } = headOf(current.tree)
    const next = { pool: current.pool, world, block: environment, used }
    if (isSingle) auction = auction?.opened(next) ?? new Auction(next)
    const candidates = auction ?? waiting(current, environment)
    if (candidates.best === undefined) break
    const assembled = await assemble(executor, current, environment, candidates, isFull)
    const assembly = withPricedOut(current, environment, assembled)
    dropped.push(...assembly.dropped)
    if (assembly.dropped.length > 0) {
      current = { ...current, pool: poolAfter(current.pool, { ...assembly, executed: [] }) }
    }
    if (assembly.executed.length === 0) break
    current = withRecord(current, sealed(current, environment, assembly), { now })
    for (const { transaction } of assembly.executed) mined.push(transaction)
    used = assembly.executed.flatMap(({ transaction }) => noncesUsedBy(transaction))
    for (const sender of used) senders.add(sender)
    if (mined.length < current.pool.size) await yieldIfDue()
  }
  let pool = await withoutMany(current.pool, mined, yieldIfDue)
  if (pool.size > 0) pool = withoutStale(pool, headOf(current.tree).world, senders)
  return { state: { ...current, pool }, dropped }
}

/** A block in the making on a state, with transactions of its pool. */
export interface BegunBlock {
  readonly state: ChainState
  readonly draft: BlockDraft
}

/** The next block with all transactions that fit. */
export async function filledBlock(
  executor: Executor,
  state: ChainState,
  { now, timestamp, begun, isFull }: MineOptions,
): Promise<BegunBlock> {
  const environment = nextBlockEnvironment(state, now, timestamp)
  const grown = begun && (await grownDraft(executor, state, environment, begun))
  const draft = grown?.draft ?? (await BlockDraft.begin(executor, state, environment))
  await draft.fill(executor, grown?.candidates ?? waiting(state, environment), isFull)
  return { state, draft }
}

/** The block as it would be mined. Its draft may grow afterwards. */
export async function pendingRecord(
  executor: Executor,
  { state, draft }: BegunBlock,
): Promise<BlockRecord> {
  return sealed(state, draft.block, await ended(executor, state, draft))
}

/** The draft to go on with if only transactions joined the pool, behind those of the draft. */
async function grownDraft(
  executor: Executor,
  state: ChainState,
  environment: BlockEnvironment,
  { state: before, draft }: BegunBlock,
): Promise<{ readonly draft: BlockDraft; readonly candidates: Source } | undefined> {
  // on a fork, a build may begin again once state is fetched
  if (!isOfSameBlock(state, before) || headOf(state.tree).world.accounts.isBacked) return undefined
  const candidates = waiting(state, environment)
  if (!draft.isBegunWith(candidates)) return undefined
  return (await draft.moveTo(executor, environment)) ? { draft, candidates } : undefined
}

/** Whether the next blocks of two states can differ only by time and by transactions of the pool. */
export function isOfSameBlock(one: ChainState, other: ChainState): boolean {
  return BLOCK_MEMBERS.every((name) => one[name] === other[name])
}

const BLOCK_MEMBERS: readonly (keyof ChainState)[] = ['config', 'tree', 'settings', 'accounts']

function waiting({ pool, tree }: ChainState, block: BlockEnvironment): Candidates {
  return new Candidates(pool, headOf(tree).world, block)
}

async function assemble(
  executor: Executor,
  state: ChainState,
  block: BlockEnvironment,
  candidates: Source,
  isFull?: MineOptions['isFull'],
): Promise<Assembly> {
  const draft = await BlockDraft.begin(executor, state, block)
  await draft.fill(executor, candidates, isFull)
  return ended(executor, state, draft)
}

async function ended(executor: Executor, state: ChainState, draft: BlockDraft): Promise<Assembly> {
  const { block, dropped, logs } = draft
  const executed = [...draft.executed]
  const uncles = unclesFor(state, block.hardfork)
  const rewarded = { miner: block.coinbase, number: block.number }
  const world = withRewards(draft.settle(), state.config, block.hardfork, rewarded, uncles)
  const roots = { transactions: draft.transactions.root, receipts: draft.receipts.root }
  const end = await executor.endBlock({ world, block, logs })
  const listed = draft.accesses.listed(block.hardfork, end.fields, end.accesses)
  const { logsBloom } = draft
  return { world: end.world, executed, dropped, uncles, roots, logsBloom, listed }
}

/** On a network's chain there are none after the merge. */
function unclesFor({ tree, config }: ChainState, hardfork: Hardfork): readonly Header[] {
  if (config.ruleset === 'network' && isAtLeast(hardfork, 'paris')) return []
  return eligibleUncles(tree, config.options.maxUncles).map(({ block }) => block.header)
}

/** Drops transactions that the block's prices exclude, where the chain behaves so. */
function withPricedOut(state: ChainState, block: BlockEnvironment, assembly: Assembly): Assembly {
  const pricedOut = pricedOutOf(state, block)
  if (pricedOut.length === 0) return assembly
  const refused = new Set(assembly.dropped.map(({ transaction }) => transaction))
  const dropped = pricedOut.filter(({ transaction }) => !refused.has(transaction))
  return { ...assembly, dropped: [...assembly.dropped, ...dropped] }
}

async function appended(
  executor: Executor,
  state: ChainState,
  environment: BlockEnvironment,
  assembly: Assembly,
  { now, timestamp }: MineOptions,
): Promise<Mined> {
  const yieldIfDue = yielder(undefined, () => executor.rest())
  const record = sealed(state, environment, assembly)
  await yieldIfDue()
  const after = withRecord(state, record, { now, timestamp })
  return { state: { ...after, pool: poolAfter(state.pool, assembly) }, dropped: assembly.dropped }
}

function withRecord(
  state: ChainState,
  record: BlockRecord,
  { now, timestamp }: MineOptions,
): ChainState {
  const { gasLimit, timestamp: time } = record.block.header
  const settings = settingsAfterBlock(state.settings)
  return {
    ...state,
    tree: appendBlock(state.tree, record),
    clock: clockAfterBlock(state, time, now, timestamp !== undefined),
    settings:
      settings.blockGasLimit === gasLimit ? settings : { ...settings, blockGasLimit: gasLimit },
  }
}

/** Removes mined and dropped transactions, and those whose nonces are used. */
function poolAfter(pool: Pool, { executed, dropped, world }: Assembly): Pool {
  const rest = withoutTransactions(pool, [...executed, ...dropped])
  if (rest.size === 0) return rest
  const senders = executed.flatMap(({ transaction }) => noncesUsedBy(transaction))
  return withoutStale(rest, world, new Set(senders))
}

function sealed(state: ChainState, environment: BlockEnvironment, assembly: Assembly): BlockRecord {
  const parent = headOf(state.tree)
  const { executed, world, uncles } = assembly
  const transactions = executed.map(({ transaction }) => transaction)
  const header = headerOf(environment, parent.block.hash, {
    transactions,
    receipts: executed.map(({ receipt }) => receipt),
    roots: assembly.roots,
    logsBloom: assembly.logsBloom,
    stateRoot: stateRoot(world),
    end: assembly.listed.fields,
    extraData: state.settings.extraData,
    nonce: nonceAt(state.config, environment.hardfork),
    uncles,
  })
  const block = sealBlock(header, transactions, uncles)
  const totalDifficulty = parent.totalDifficulty + cumulativeDifficulty(block)
  const { signers } = environment
  return new KeptRecord({ block, executed, world, totalDifficulty, signers }, parent)
}
