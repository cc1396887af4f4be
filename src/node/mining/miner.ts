// Block assembly: transactions of the pool are run one after another and sealed into a block.

import { DevchainError } from '../../core/errors.ts'
import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { BlockEnvironment, Executor, Outcome, TransactionJob } from '../../evm/executor.ts'
import {
  cumulativeDifficulty,
  type Header,
  sealBlock,
  transactionsRoot,
  unclesHash,
} from '../../protocol/block.ts'
import { nextDifficulty } from '../../protocol/difficulty.ts'
import {
  type BlobRules,
  blobBaseFee,
  blobGasOf,
  blobGasOfAll,
  blobRulesOf,
  maxBlobGas,
  nextBaseFee,
  nextExcessBlobGas,
} from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { EMPTY_BLOOM, mergeBlooms, receiptsRoot } from '../../protocol/receipt.ts'
import type { Transaction } from '../../protocol/transaction.ts'
import { stateRoot, type World } from '../../state/world.ts'
import { signersOf } from '../accounts/accounts.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import {
  ancestorHash,
  appendBlock,
  eligibleUncles,
  hashByNumber,
  headOf,
} from '../ledger/blocktree.ts'
import { type ChainState, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { DroppedTransaction } from '../ledger/change.ts'
import { clockAfterBlock, nextTimestamp, requireFits } from '../ledger/clock.ts'
import { type AuctionBlock, type Source, sourcesOfWaiting } from '../pool/auction.ts'
import { requireTerms, type Terms } from '../pool/conditions.ts'
import {
  Candidates,
  noncesUsedBy,
  type Pool,
  withoutMany,
  withoutStale,
  withoutTransactions,
} from '../pool/pool.ts'
import { forkFields } from './forkfields.ts'
import { isTooCheap } from './leastprice.ts'
import { blockLimits } from './limits.ts'
import { derivedRandao } from './randao.ts'
import { executedAs } from './receipts.ts'
import { withRewards } from './rewards.ts'

/** What mining came to. */
export interface Mined {
  readonly state: ChainState
  /** New blocks, oldest first; they are part of `state`. */
  readonly records: readonly BlockRecord[]
  readonly dropped: readonly DroppedTransaction[]
}

/** Which block is to be mined. */
export interface MineOptions {
  /** Wall time in milliseconds. */
  readonly now: number
  /** Seconds; undefined: what the clock says. Checked by the caller to be after the parent's. */
  readonly timestamp?: bigint | undefined
  /** Undefined: what the settings say. */
  readonly difficulty?: bigint | undefined
}

/** A block on its way, and what its transactions came to. */
interface Assembly {
  readonly world: World
  readonly executed: readonly ExecutedTransaction[]
  readonly dropped: readonly DroppedTransaction[]
  readonly uncles: readonly Header[]
  readonly requestsHash: Hash | undefined
}

/** Milliseconds of mining after which other work gets a turn. */
const TURN_MS = 20

/** Gas of the cheapest transaction there is: with less left in a block, no other can follow. */
const LEAST_GAS = 21_000n

/** The nonce of a block that nobody worked for. One for all: bulk mining keeps a million headers. */
const NO_PROOF = new Uint8Array(8)

/**
 * Mines the next block with as many waiting transactions as fit. One that does not fit waits; one that became
 * impossible is dropped.
 */
export async function mineBlock(
  executor: Executor,
  state: ChainState,
  options: MineOptions,
): Promise<Mined> {
  const environment = nextBlockEnvironment(state, options.now, options.timestamp)
  const assembly = await assemble(executor, state, environment, waiting(state, environment))
  return appended(state, environment, assembly, options)
}

/**
 * Mines the next block with exactly these transactions in this order, whatever waits.
 * @throws {DevchainError} why the first of them that may not be in the block may not
 */
export async function mineGiven(
  executor: Executor,
  state: ChainState,
  transactions: readonly Transaction[],
  options: MineOptions,
): Promise<Mined> {
  const given = nextBlockEnvironment(state, options.now, options.timestamp)
  const environment = { ...given, difficulty: options.difficulty ?? given.difficulty }
  const assembly = await assemble(executor, state, environment, inOrder(transactions))
  const [refused] = assembly.dropped
  if (refused !== undefined) throw refused.error
  const left = transactions[assembly.executed.length]
  if (left !== undefined) throw noRoom(left, environment, assembly)
  return appended(state, environment, assembly, options)
}

function noRoom(
  { hash, gasLimit, blobs }: Transaction,
  { number, gasLimit: limit, hardfork, blobRules }: BlockEnvironment,
  { executed }: Assembly,
): DevchainError {
  const most = maxBlobGas(hardfork, blobRules)
  const used = blobGasOfAll(executed.map(({ transaction }) => transaction))
  const wants =
    blobGasOf({ blobs }) > most - used
      ? `${blobGasOf({ blobs })} blob gas, which block ${number} of ${most}`
      : `${gasLimit} gas, which block ${number} of ${limit}`
  const message = `exceeds block gas limit: transaction ${hash} wants ${wants} has not left`
  return new DevchainError('EXCEEDS_BLOCK_GAS_LIMIT', message)
}

/**
 * Mines every transaction that can be mined, each in a block of its own: what instant mining means. Without any there
 * is no block. Chains that behave so fill their blocks.
 */
export async function mineWaiting(
  executor: Executor,
  state: ChainState,
  now: number,
): Promise<Mined> {
  const records: BlockRecord[] = []
  const dropped: DroppedTransaction[] = []
  const isSingle = state.config.behaviour.oneTransactionABlock
  const count = isSingle ? 1 : Number.POSITIVE_INFINITY
  const nextSource = isSingle ? sourcesOfWaiting() : wholePool
  const yieldIfDue = yielder(TURN_MS, () => executor.rest())
  // what is mined stays in the pool until the end: its nonces are used, so that nobody offers it again
  const mined: Transaction[] = []
  const senders = new Set<Address>()
  let current = state
  let used: readonly Address[] = []
  while (mined.length < current.pool.size) {
    const environment = nextBlockEnvironment(current, now)
    const { world } = headOf(current.tree)
    const candidates = nextSource({ pool: current.pool, world, block: environment, used })
    if (candidates.best === undefined) break
    const assembly = await assemble(executor, current, environment, candidates, count)
    dropped.push(...assembly.dropped)
    if (assembly.dropped.length > 0) {
      current = { ...current, pool: poolAfter(current.pool, { ...assembly, executed: [] }) }
    }
    if (assembly.executed.length === 0) break
    const record = sealed(current, environment, assembly)
    records.push(record)
    current = withRecord(current, record, { now })
    for (const { transaction } of assembly.executed) mined.push(transaction)
    used = assembly.executed.flatMap(({ transaction }) => noncesUsedBy(transaction))
    for (const sender of used) senders.add(sender)
    if (mined.length < current.pool.size) await yieldIfDue()
  }
  let pool = await withoutMany(current.pool, mined, yieldIfDue)
  if (pool.size > 0) pool = withoutStale(pool, headOf(current.tree).world, senders)
  return { state: { ...current, pool }, records, dropped }
}

/** The block that would be mined now. It is no part of any tree. */
export async function buildPending(
  executor: Executor,
  state: ChainState,
  now: number,
): Promise<BlockRecord> {
  const environment = nextBlockEnvironment(state, now)
  const assembly = await assemble(executor, state, environment, waiting(state, environment))
  return sealed(state, environment, assembly)
}

/** What the checks of a transaction need to know of the block that would be mined now. */
export type NextRules = Pick<BlockEnvironment, 'number' | 'timestamp' | 'hardfork' | 'baseFee'>

/** The rules of the block that would be mined now. */
export function nextRules(
  state: ChainState,
  now: number,
  timestamp: bigint = nextTimestamp(state, now),
): NextRules {
  requireFits(timestamp)
  const number = headOf(state.tree).block.header.number + 1n
  const hardfork = state.config.hardforkAt(number, timestamp)
  return { number, timestamp, hardfork, baseFee: nextBaseFeeOf(state, hardfork) }
}

/** Wei per gas of blobs in the block that would be mined now; 0n before cancun. */
export function nextBlobFee(
  { config, tree }: ChainState,
  { number, timestamp, hardfork }: NextRules,
): bigint {
  if (!isAtLeast(hardfork, 'cancun')) return 0n
  const rules = config.blobRulesAt(number, timestamp)
  const excess = excessBlobGasAfter(headOf(tree).block.header, hardfork, rules)
  return blobBaseFee(excess, hardfork, rules)
}

/** What contracts would learn about the block that would be mined now. */
export function nextBlockEnvironment(
  state: ChainState,
  now: number,
  timestamp?: bigint,
): BlockEnvironment {
  const { accounts, config, settings, tree } = state
  const parent = headOf(tree).block
  const rules = nextRules(state, now, timestamp)
  const blobRules = config.blobRulesAt(rules.number, rules.timestamp)
  // written out: to add so many members to a spread took 7 µs, a twentieth of a block
  return {
    number: rules.number,
    timestamp: rules.timestamp,
    hardfork: rules.hardfork,
    baseFee: rules.baseFee,
    chainId: config.chainId,
    coinbase: settings.coinbase,
    gasLimit: settings.blockGasLimit,
    difficulty: nextDifficultyOf(state, rules),
    prevRandao: settings.nextPrevRandao ?? derivedRandao(parent.hash, rules.number, tree.abandoned),
    excessBlobGas: excessBlobGasAfter(parent.header, rules.hardfork, blobRules),
    blobRules,
    depositContract: config.depositContract,
    blockHash: (asked) => hashByNumber(tree, asked),
    signers: signersOf(accounts),
  }
}

/** What the settings say; on a network's chain what its rules do. */
function nextDifficultyOf({ config, settings, tree }: ChainState, rules: NextRules): bigint {
  const { number, timestamp, hardfork } = rules
  if (config.ruleset === 'own') return settings.difficulty
  if (isAtLeast(hardfork, 'paris')) return 0n
  const { header } = headOf(tree).block
  return nextDifficulty(header, timestamp, hardfork, config.bombDelayAt(number, timestamp))
}

/** What contracts learnt about an existing block while it ran. */
export function blockEnvironment(
  { config, tree }: ChainState,
  record: BlockRecord,
): BlockEnvironment {
  const { header } = record.block
  return {
    chainId: config.chainId,
    hardfork: config.hardforkAt(header.number, header.timestamp),
    number: header.number,
    timestamp: header.timestamp,
    coinbase: header.miner,
    gasLimit: header.gasLimit,
    difficulty: header.difficulty,
    prevRandao: record.prevRandao ?? header.mixHash,
    baseFee: header.baseFeePerGas ?? 0n,
    excessBlobGas: header.excessBlobGas ?? 0n,
    blobRules: config.blobRulesAt(header.number, header.timestamp),
    depositContract: config.depositContract,
    blockHash: (asked) => ancestorHash(tree, record, asked),
    signers: record.signers,
  }
}

/** Wei per gas of the block after the head; 0n before london. */
export function nextBaseFeeOf(state: ChainState, hardfork: Hardfork): bigint {
  const { nextBaseFee: set } = state.settings
  if (set !== undefined && isAtLeast(hardfork, 'london')) return set
  return baseFeeAfter(state, headOf(state.tree).block.header, hardfork)
}

/** Wei per gas of the block after `parent`, as the chain reckons it; 0n before london. */
export function baseFeeAfter(
  { config, settings }: ChainState,
  { number, baseFeePerGas, gasUsed, gasLimit }: Header,
  hardfork: Hardfork,
): bigint {
  if (!isAtLeast(hardfork, 'london')) return 0n
  if (baseFeePerGas === undefined) return config.initialBaseFee
  const isFirst = number === 0n && config.behaviour.firstBaseFeeStays
  return settings.pinnedBaseFee || isFirst
    ? baseFeePerGas
    : nextBaseFee({ baseFee: baseFeePerGas, gasUsed, gasLimit })
}

/** What the block after `parent` begins with; 0n before cancun. */
export function excessBlobGasAfter(
  parent: Header,
  hardfork: Hardfork,
  rules: BlobRules = blobRulesOf(hardfork),
): bigint {
  if (!isAtLeast(hardfork, 'cancun')) return 0n
  return nextExcessBlobGas(
    {
      excessBlobGas: parent.excessBlobGas ?? 0n,
      blobGasUsed: parent.blobGasUsed ?? 0n,
      baseFee: parent.baseFeePerGas ?? 0n,
    },
    hardfork,
    rules,
  )
}

/** What waits, for a block that takes as much as it can hold. */
function wholePool({ pool, world, block }: AuctionBlock): Candidates {
  return new Candidates(pool, world, block)
}

/** What waits, in the order in which a block takes it. */
function waiting({ pool, tree }: ChainState, block: BlockEnvironment): Candidates {
  return new Candidates(pool, headOf(tree).world, block)
}

/** These and no others; where one cannot be taken, none after it is. */
function inOrder(transactions: readonly Transaction[]): Source {
  const left = [...transactions].reverse()
  return {
    get best() {
      return left.at(-1)
    },
    advance: () => left.pop(),
    skip: () => left.splice(0),
  }
}

/** Runs what goes into the block, at most `count` transactions. */
async function assemble(
  executor: Executor,
  state: ChainState,
  block: BlockEnvironment,
  candidates: Source,
  count = Number.POSITIVE_INFINITY,
): Promise<Assembly> {
  const parent = headOf(state.tree)
  const executed: ExecutedTransaction[] = []
  const dropped: DroppedTransaction[] = []
  const limits = blockLimits(state.config)
  let world = await executor.beginBlock({
    world: parent.world,
    block,
    parentHash: parent.block.hash,
    parentBeaconBlockRoot: isAtLeast(block.hardfork, 'cancun') ? ZERO_HASH : undefined,
  })
  const yieldIfDue = yielder(TURN_MS, () => executor.rest())
  let gasLeft = block.gasLimit
  let blobGasLeft = maxBlobGas(block.hardfork, block.blobRules)
  while (executed.length < count && gasLeft >= LEAST_GAS) {
    const transaction = candidates.best
    if (transaction === undefined) break
    const isLarge = transaction.gasLimit > gasLeft || blobGasOf(transaction) > blobGasLeft
    if (isLarge || isTooCheap(state, transaction, block.hardfork)) {
      candidates.skip()
      continue
    }
    const outcome = await attempt(executor, { world, block, transaction, limits }, candidates.terms)
    if (outcome instanceof DevchainError) {
      dropped.push({ transaction, error: outcome })
      candidates.skip()
      continue
    }
    world = outcome.world
    gasLeft -= outcome.gasUsed
    blobGasLeft -= blobGasOf(transaction)
    executed.push(executedAs(transaction, outcome, block, block.gasLimit - gasLeft))
    candidates.advance()
    if (executed.length < count) await yieldIfDue()
  }
  const logs = executed.flatMap(({ receipt }) => receipt.logs)
  const uncles = unclesFor(state, block.hardfork)
  const rewarded = { miner: block.coinbase, number: block.number }
  world = withRewards(world, state.config, block.hardfork, rewarded, uncles)
  const end = await executor.endBlock({ world, block, logs })
  return { world: end.world, executed, dropped, uncles, requestsHash: end.requestsHash }
}

/** The uncles of the next block. On a network's chain there are none after the merge. */
function unclesFor({ tree, config }: ChainState, hardfork: Hardfork): readonly Header[] {
  if (config.ruleset === 'network' && isAtLeast(hardfork, 'paris')) return []
  return eligibleUncles(tree, config.options.maxUncles).map(({ block }) => block.header)
}

/** The outcome, or the reason why the transaction may not be in the block. A bug stays a bug. */
async function attempt(
  executor: Executor,
  job: TransactionJob,
  terms: Terms | undefined,
): Promise<Outcome | DevchainError> {
  try {
    if (terms !== undefined) requireTerms(terms, job.world, job.block)
    return await executor.transact(job)
  } catch (error) {
    if (error instanceof DevchainError && error.word !== 'ABANDONED') return error
    throw error
  }
}

/** The state with the block appended, and what it took out of the pool and the clock. */
function appended(
  state: ChainState,
  environment: BlockEnvironment,
  assembly: Assembly,
  { now, timestamp }: MineOptions,
): Mined {
  const record = sealed(state, environment, assembly)
  const after = withRecord(state, record, { now, timestamp })
  return {
    state: { ...after, pool: poolAfter(state.pool, assembly) },
    records: [record],
    dropped: assembly.dropped,
  }
}

/** The state with the block appended, and what it took out of the clock; its transactions wait on. */
function withRecord(
  state: ChainState,
  record: BlockRecord,
  { now, timestamp }: MineOptions,
): ChainState {
  const { header } = record.block
  return {
    ...state,
    tree: appendBlock(state.tree, record),
    clock: clockAfterBlock(state, header.timestamp, now, timestamp !== undefined),
    settings: settingsAfterBlock(state.settings),
  }
}

/** The pool without what was mined or dropped, and without what those leave with a used nonce. */
function poolAfter(pool: Pool, { executed, dropped, world }: Assembly): Pool {
  const gone = [...executed, ...dropped].map(({ transaction }) => transaction)
  const rest = withoutTransactions(pool, gone)
  if (rest.size === 0) return rest
  const senders = executed.flatMap(({ transaction }) => noncesUsedBy(transaction))
  return withoutStale(rest, world, senders)
}

function sealed(state: ChainState, environment: BlockEnvironment, assembly: Assembly): BlockRecord {
  const parent = headOf(state.tree)
  const { executed, world, uncles } = assembly
  const transactions = executed.map(({ transaction }) => transaction)
  const receipts = executed.map(({ receipt }) => receipt)
  const news = forkFields(environment, assembly.requestsHash)
  const header: Header = {
    parentHash: parent.block.hash,
    sha3Uncles: unclesHash(uncles),
    miner: environment.coinbase,
    stateRoot: stateRoot(world),
    transactionsRoot: transactionsRoot(transactions),
    receiptsRoot: receiptsRoot(receipts),
    logsBloom:
      receipts.length === 0 ? EMPTY_BLOOM : mergeBlooms(receipts.map(({ logsBloom }) => logsBloom)),
    difficulty: environment.difficulty,
    number: environment.number,
    gasLimit: environment.gasLimit,
    gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? 0n,
    timestamp: environment.timestamp,
    extraData: state.settings.extraData,
    mixHash: environment.prevRandao,
    nonce: NO_PROOF,
    baseFeePerGas: news.baseFeePerGas,
    withdrawalsRoot: news.withdrawalsRoot,
    blobGasUsed: news.blobGasUsed === undefined ? undefined : blobGasOfAll(transactions),
    excessBlobGas: news.excessBlobGas,
    parentBeaconBlockRoot: news.parentBeaconBlockRoot,
    requestsHash: news.requestsHash,
  }
  const block = sealBlock(header, transactions, uncles)
  const totalDifficulty = parent.totalDifficulty + cumulativeDifficulty(block)
  return { block, executed, world, totalDifficulty, signers: environment.signers }
}
