// Replays mined transactions, and runs possible ones, under a tracer.
import { DevchainError, invalidParams, isInterruption, limitExceeded } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type {
  BlockEnvironment,
  ExecutionLimits,
  Executor,
  Outcome,
  Tracer,
} from '../../evm/executor.ts'
import { type CallFrame, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { authorityOf, type Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { Rerun } from '../chain/failedrun.ts'
import { recordAt } from '../chain/lookup.ts'
import { runBlock } from '../import/validate.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { headOf, isCanonical, type TransactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { knownParent, knownPlace } from '../ledger/leftblocks.ts'
import { withWorldReady } from '../ledger/packing/keptrecord.ts'
import type { BlockReference } from '../ledger/references.ts'
import { blockEnvironment, blockStart, nextBlockEnvironment } from '../mining/environment.ts'
import { blockLimits } from '../mining/limits.ts'
import { type CallOptions, calledOn, contextAt, runMessage } from './callcontext.ts'
import type { CallRequest } from './request.ts'

export interface TracedTarget {
  readonly from: Address
  readonly to: Address | null
  readonly gasLimit: bigint
  readonly coinbase: Address
  readonly authorities: readonly Address[]
}

export interface TracedRun {
  readonly target: TracedTarget
  readonly before: World
  readonly outcome: Outcome
  readonly transaction: Transaction | undefined
}

/** A chain as it was when the replay began: it may have grown since. */
export type Replayed = Pick<Chain, 'state' | 'executor'> & Partial<Pick<Chain, 'worldsBetween'>>

/** Makes the tracer of a run; undefined: the run only prepares the state for later ones. */
export type TracerFor = (target: TracedTarget, index: number) => Tracer | undefined

const KEPT_LIMIT = 256_000_000

export class TraceBudget {
  readonly #stepLimit: number
  #steps = 0
  #bytes = 0

  constructor(stepLimit: number) {
    this.#stepLimit = stepLimit
  }

  readonly tick = (operations: number): void => {
    this.#steps += operations
    if (this.#steps <= this.#stepLimit) return
    throw limitExceeded(`the trace is over the limit of ${this.#stepLimit} steps (--trace-limit)`)
  }

  /** Counts bytes that stay in memory until the trace is returned. */
  readonly keep = (bytes: number): void => {
    this.#bytes += bytes
    if (this.#bytes <= KEPT_LIMIT) return
    const message = `the trace is over the limit of ${KEPT_LIMIT} bytes of calls and their data`
    throw limitExceeded(message)
  }

  readonly release = (): void => {
    this.#bytes = 0
  }
}

interface ReplayContext {
  readonly chain: Replayed
  readonly record: BlockRecord
  readonly block: BlockEnvironment
  readonly limits: ExecutionLimits
}

/** Original states, results and gas, after the system calls. Throws `NOT_FOUND` when the block's parent is unknown. */
export async function* replay(
  chain: Replayed,
  record: BlockRecord,
  tracerFor: TracerFor,
): AsyncIterableIterator<TracedRun> {
  const count = record.block.transactions.length
  if (count === 0) return
  const context = contextOf(chain, record)
  const yieldIfDue = yielder()
  let world = await worldAtIndex(context, 0, tracerFor)
  for (let index = 0; index < count; index++) {
    chain.worldsBetween?.keep(record, index, world)
    const run = await rerun(context, index, world, tracerFor)
    yield run
    // the world after it is made on demand
    if (index + 1 < count) world = run.outcome.world
    await yieldIfDue()
  }
}

interface FrameOptions {
  readonly withLogs?: boolean
  readonly budget?: TraceBudget
}

/** The outermost call of each transaction of a block. Throws as `replay`. */
export async function* replayFrames(
  chain: Replayed,
  record: BlockRecord,
  { withLogs, budget }: FrameOptions,
): AsyncIterableIterator<CallFrame> {
  let recorder = recordCalls()
  const tracerFor = (): Tracer => {
    recorder = recordCalls({ withLogs, keep: budget?.keep })
    return budget ? combineTracers([{ onTick: budget.tick }, recorder.tracer]) : recorder.tracer
  }
  for await (const _ of replay(chain, record, tracerFor)) {
    yield recorder.top()
    budget?.release()
  }
}

export async function replayOne(
  chain: Replayed,
  { record, index }: TransactionPlace,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const context = contextOf(chain, record)
  const world = await worldAtIndex(context, index, tracerFor)
  return rerun(context, index, world, tracerFor)
}

function contextOf(chain: Replayed, record: BlockRecord): ReplayContext {
  const block = environmentThen(chain.state, record)
  return { chain, record, block, limits: blockLimits(chain.state.config) }
}

/** The world before a transaction of a block: cached, or from running those before it. */
async function worldAtIndex(
  context: ReplayContext,
  index: number,
  tracerFor: TracerFor,
): Promise<World> {
  const { chain, record } = context
  const { worldsBetween } = chain
  const nearest = worldsBetween?.nearest(record, index)
  let world = nearest?.world ?? (await worldAtStart(context))
  if (nearest?.index === index) return world
  const yieldIfDue = yielder()
  for (let at = nearest?.index ?? 0; at < index; at++) {
    worldsBetween?.keep(record, at, world)
    world = (await rerun(context, at, world, tracerFor)).outcome.world
    await yieldIfDue()
  }
  worldsBetween?.keep(record, index, world)
  return world
}

export function runOfMined(chain: Replayed, hash: Hash): Rerun | undefined {
  const place = knownPlace(chain.state, hash)
  if (place === undefined) return undefined
  return async (tracer) => {
    const tracerFor: TracerFor = (_, index) => (index === place.index ? tracer : undefined)
    return (await replayOne(chain, place, tracerFor)).before
  }
}

interface TracedMessage extends Omit<CallOptions, 'tracer' | 'onRun'> {
  readonly request: CallRequest
  readonly reference: BlockReference
  /** Runs on the state before the block's transaction of this index; by default after all of them. */
  readonly index?: number | undefined
}

export async function traceMessage(
  chain: Chain,
  { request, reference, index, ...options }: TracedMessage,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const before =
    index === undefined
      ? undefined
      : await worldBefore(chain, reference, index, options.cancellation)
  const given = await contextAt(chain, reference, { ...options, world: options.world ?? before })
  const { context, message } = calledOn(given, request, options.blockOverrides)
  const target = targetOf(message, context.block)
  const outcome = await runMessage(context, message, { tracer: tracerFor(target, 0) })
  return { target, before: context.world, outcome, transaction: undefined }
}

/** Runs a signed transaction as the first of the next block. Throws why that block may not include it. */
export async function traceUnsent(
  chain: Chain,
  transaction: Transaction,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const { state, executor } = chain
  const block = nextBlockEnvironment(state, chain.environment.now())
  const { world: before } = await executor.beginBlock(blockStart(block, headOf(state.tree)))
  const limits = blockLimits(state.config)
  const target = targetOf(transaction, block)
  const tracer = tracerFor(target, 0)
  const outcome = await executor.transact({ world: before, block, transaction, limits, tracer })
  return { target, before, outcome, transaction }
}

/**
 * The index after the last means after all transactions.
 * @throws {DevchainError} `NOT_FOUND` as `replay` and for an unknown block, `INVALID_PARAMS` for a larger index
 */
export async function worldBefore(
  chain: Chain,
  reference: BlockReference,
  index: number,
  cancellation?: Cancellation,
): Promise<World> {
  const record = await recordAt(chain, reference, cancellation)
  const { length } = record.block.transactions
  if (index > length) {
    const { number } = record.block.header
    const message = `transaction index ${index} out of range for block ${number}: expected 0 to ${length}`
    throw invalidParams(message)
  }
  if (index === length) return (await withWorldReady(record)).world
  return worldAtIndex(contextOf(chain, record), index, () => undefined)
}

/** @throws {DevchainError} `NOT_FOUND` when the parent is not kept */
export function parentToRunOn(state: ChainState, record: BlockRecord): BlockRecord {
  const parent = knownParent(state, record)
  if (parent !== undefined) return parent
  const message = `block ${record.block.header.number} has no parent on this chain, so there is no state to run it on`
  throw new DevchainError('NOT_FOUND', message)
}

/** Runs a block again. @throws {DevchainError} as `parentToRunOn` and `runBlock` */
export async function runAgain(
  executor: Executor,
  state: ChainState,
  record: BlockRecord,
): ReturnType<typeof runBlock> {
  const { world } = await withWorldReady(parentToRunOn(state, record))
  // written out: members of a kept record are getters
  const { block, totalDifficulty, prevRandao, signers } = record
  const unrun = { block, executed: [], world, totalDifficulty, prevRandao, signers }
  return runBlock(executor, state, unrun, environmentThen(state, record))
}

async function worldAtStart({
  chain: { state, executor },
  record,
  block,
}: ReplayContext): Promise<World> {
  const { header } = record.block
  const { world } = await executor.beginBlock({
    world: (await withWorldReady(parentToRunOn(state, record))).world,
    block,
    parentHash: header.parentHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
  })
  return world
}

/** The block's environment with the chain id that its transactions were signed for: the chain's may have changed. */
function environmentThen(state: ChainState, record: BlockRecord): BlockEnvironment {
  const signed = record.block.transactions.find((each) => each.chainId !== undefined)
  return blockEnvironment(state, record, signed?.chainId)
}

/** Throws `NOT_FOUND` for a block that would now be refused, of another node or off the chain. */
async function rerun(
  context: ReplayContext,
  index: number,
  before: World,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const { record, block, limits } = context
  const transaction = record.block.transactions[index]!
  const target = targetOf(transaction, block)
  const tracer = tracerFor(target, index)
  const cancellation = undefined
  const job = { world: before, draft: undefined, block, transaction, limits, tracer, cancellation }
  let outcome: Outcome
  try {
    outcome = await context.chain.executor.transact(job)
  } catch (error) {
    throw replayError(context, error)
  }
  checkReplay(context, index, outcome)
  return { target, before, outcome, transaction }
}

function replayError(context: ReplayContext, error: unknown): unknown {
  if (!(error instanceof DevchainError) || isInterruption(error)) return error
  return (error.word !== 'LIMIT_EXCEEDED' && ranOtherwise(context, error.message)) || error
}

/** A replay that differs without a reason is a bug here, and its trace would show something that never happened. */
function checkReplay(context: ReplayContext, index: number, { gasUsed }: Outcome): void {
  const { block, executed } = context.record
  const mined = executed[index]?.receipt.gasUsed
  if (mined === gasUsed) return
  const problem = `transaction ${index} uses ${gasUsed} gas here and used ${mined} there`
  throw ranOtherwise(context, problem) ?? new Error(`replay of ${block.hash}: ${problem}`)
}

/** Undefined for a block of the chain that was made here: it may not run otherwise. */
function ranOtherwise(
  { chain: { state }, record }: ReplayContext,
  problem: string,
): DevchainError | undefined {
  const { isLoaded, block } = record
  if (isLoaded !== true && isCanonical(state.tree, record)) return undefined
  const why = isLoaded
    ? 'it was made by another node'
    : 'accounts were set when it had left the chain'
  const message = `trace of block ${block.header.number} (${block.hash}) not found: ${why}, and re-executing it here gives a different result: ${problem}`
  return new DevchainError('NOT_FOUND', message)
}

function targetOf(
  run: Pick<Transaction, 'from' | 'to' | 'gasLimit' | 'authorizationList'>,
  { coinbase }: BlockEnvironment,
): TracedTarget {
  const { from, to, gasLimit, authorizationList } = run
  const authorities = authorizationList.map(authorityOf).filter((each) => each !== undefined)
  return { from, to, gasLimit, coinbase, authorities }
}
