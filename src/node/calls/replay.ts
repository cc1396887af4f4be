// Running again what was mined, and what might be, under the eyes of a tracer.

import { DevchainError, isInterruption } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type {
  BlockEnvironment,
  Executor,
  IsAwaited,
  Outcome,
  Tracer,
  TransactionJob,
} from '../../evm/executor.ts'
import {
  type Authorization,
  authorityOf,
  type Transaction,
} from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { Again } from '../chain/failedrun.ts'
import { recordAt } from '../chain/lookup.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { blockByHash, headOf, transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { BlockReference } from '../ledger/references.ts'
import { blockEnvironment, blockStart, nextBlockEnvironment } from '../mining/environment.ts'
import { blockLimits, callLimits } from '../mining/limits.ts'
import { prepareCall } from './call.ts'
import type { BlockOverrides, StateOverrides } from './overrides.ts'
import type { CallRequest } from './request.ts'

/** What is run: a transaction, or a message that might become one. */
export interface TracedTarget {
  readonly from: Address
  readonly to: Address | null
  readonly gasLimit: bigint
  readonly coinbase: Address
  /** Accounts that let their code be set (EIP-7702). */
  readonly authorities: readonly Address[]
}

/** A run that was traced. */
export interface TracedRun {
  readonly target: TracedTarget
  /** All accounts as the run found them. */
  readonly before: World
  readonly outcome: Outcome
  /** Undefined for a message. */
  readonly transaction: Transaction | undefined
}

/** A chain as it was when somebody began to look at it: blocks may be run again long after it went on. */
export type Replayed = Pick<Chain, 'state' | 'executor'> & Partial<Pick<Chain, 'worldsBetween'>>

/** Makes the tracer of a run; undefined: it is run without one, for what comes after it. */
export type TracerFor = (target: TracedTarget, index: number) => Tracer | undefined

/** Bytes of calldata, return data and the like that one request keeps until it is answered. */
const KEPT_LIMIT = 256_000_000

/** What one request may take: all its runs together. */
export class TraceBudget {
  readonly #stepLimit: number
  #steps = 0
  #bytes = 0

  constructor(stepLimit: number) {
    this.#stepLimit = stepLimit
  }

  /**
   * Counts operations.
   * @throws {DevchainError} `LIMIT_EXCEEDED` when there were too many
   */
  readonly tick = (operations: number): void => {
    this.#steps += operations
    if (this.#steps <= this.#stepLimit) return
    const message = `the trace is over the limit of ${this.#stepLimit} steps (--trace-limit)`
    throw new DevchainError('LIMIT_EXCEEDED', message)
  }

  /**
   * Counts bytes that stay in memory until the trace is answered.
   * @throws {DevchainError} `LIMIT_EXCEEDED` when they are too many
   */
  readonly keep = (bytes: number): void => {
    this.#bytes += bytes
    if (this.#bytes <= KEPT_LIMIT) return
    const message = `the trace is over the limit of ${KEPT_LIMIT} bytes of calls and their data`
    throw new DevchainError('LIMIT_EXCEEDED', message)
  }

  /** What was kept has been written, and is gone. */
  readonly release = (): void => {
    this.#bytes = 0
  }
}

/**
 * Runs a block's transactions again, each on the state that it was mined on: after the system calls at the block's
 * beginning and the transactions before it. What comes of each is what came of it then, gas included.
 * @param only index of the only transaction that is told of; those before it are run where it takes them
 * @throws {DevchainError} `NOT_FOUND` when the block's parent is no longer known
 */
export async function* replay(
  chain: Replayed,
  record: BlockRecord,
  tracerFor: TracerFor,
  only?: number,
): AsyncIterableIterator<TracedRun> {
  const { transactions } = record.block
  if (transactions.length === 0) return
  const { state, executor, worldsBetween } = chain
  const block = environmentThen(state, record)
  const limits = blockLimits(state.config)
  const start = worldsBetween?.nearest(record, only ?? 0)
  let world = start?.world ?? (await worldAtStart(chain, record, block))
  const yieldIfDue = yielder()
  for (let index = start?.index ?? 0; index < transactions.length; index++) {
    worldsBetween?.keep(record, index, world)
    const transaction = transactions[index]!
    const target = targetOf(transaction, block)
    const tracer = tracerFor(target, index)
    const outcome = await again(executor, record, { world, block, transaction, limits, tracer })
    checkReplay(record, index, outcome)
    if (only === undefined || index === only) {
      yield { target, before: world, outcome, transaction }
    }
    // the world after it is made when asked for
    if (index === only) return
    world = outcome.world
    await yieldIfDue()
  }
}

/** How to run a mined transaction again; undefined where it is in no block. */
export function runOfMined(chain: Replayed, hash: Hash): Again | undefined {
  const place = transactionPlace(chain.state.tree, hash)
  if (place === undefined) return undefined
  const { record, index } = place
  return async (tracer) => {
    let { world } = record
    const runs = replay(chain, record, (_, i) => (i === index ? tracer : undefined), index)
    for await (const { before } of runs) world = before
    return world
  }
}

/** A message to trace, and what it runs on. */
export interface TracedMessage {
  readonly request: CallRequest
  readonly reference: BlockReference
  readonly stateOverrides?: StateOverrides | undefined
  readonly blockOverrides?: BlockOverrides | undefined
  /** It runs on the state before the block's transaction of this index; after all of them when left out. */
  readonly index?: number | undefined
  /** The accounts that it runs on, where they are not a block's. */
  readonly world?: World | undefined
  /** False gives up a pending block that it waits for. */
  readonly isAwaited?: IsAwaited | undefined
}

/** Runs a message as `call` does, under a tracer. Reverts and halts are outcomes. */
export async function traceMessage(
  chain: Chain,
  { request, reference, stateOverrides, blockOverrides, index, world, isAwaited }: TracedMessage,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const base =
    world ??
    (index === undefined ? undefined : await worldBefore(chain, reference, index, isAwaited))
  const conditions = { stateOverrides, blockOverrides, world: base, isAwaited }
  const job = await prepareCall(chain, request, reference, conditions)
  const limits = callLimits(chain.state.config)
  const target = targetOf(job.message, job.block)
  const tracer = tracerFor(target, 0)
  const outcome = await chain.executor.call({ ...job, limits, tracer })
  return { target, before: job.world, outcome, transaction: undefined }
}

/**
 * Runs a signed transaction as the first of the block that would be mined now, and leaves it at that.
 * @throws {DevchainError} why it may not be in that block
 */
export async function traceUnsent(
  chain: Chain,
  transaction: Transaction,
  tracerFor: TracerFor,
): Promise<TracedRun> {
  const { state, executor } = chain
  const block = nextBlockEnvironment(state, chain.environment.now())
  const before = await executor.beginBlock(blockStart(block, headOf(state.tree)))
  const limits = blockLimits(state.config)
  const target = targetOf(transaction, block)
  const tracer = tracerFor(target, 0)
  const outcome = await executor.transact({ world: before, block, transaction, limits, tracer })
  return { target, before, outcome, transaction }
}

/**
 * All accounts before the transaction of an index, or with an index beyond the last, after all of them.
 * @throws {DevchainError} `NOT_FOUND` as `replay` and for an unknown block
 */
export async function worldBefore(
  chain: Chain,
  reference: BlockReference,
  index: number,
  isAwaited?: IsAwaited,
): Promise<World> {
  const record = await recordAt(chain, reference, isAwaited)
  if (index >= record.block.transactions.length) return record.world
  for await (const run of replay(chain, record, () => undefined, index)) {
    if (run.transaction === record.block.transactions[index]) return run.before
  }
  return record.world
}

/** The world that a block's first transaction finds. */
async function worldAtStart(
  { state, executor }: Replayed,
  { block: { header, hash } }: BlockRecord,
  block: BlockEnvironment,
): Promise<World> {
  const parent = blockByHash(state.tree, header.parentHash)
  if (parent === undefined) {
    const message = `block ${hash} cannot be run again: its parent ${header.parentHash} is not kept`
    throw new DevchainError('NOT_FOUND', message)
  }
  return executor.beginBlock({
    world: parent.world,
    block,
    parentHash: header.parentHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
  })
}

/** What a block ran in, under the chain id that its transactions were signed for: that of the chain may have changed. */
function environmentThen(state: ChainState, record: BlockRecord): BlockEnvironment {
  const block = blockEnvironment(state, record)
  const chainId = record.block.transactions.find((each) => each.chainId !== undefined)?.chainId
  return chainId === undefined ? block : { ...block, chainId }
}

/**
 * Runs a transaction as it ran.
 * @throws {DevchainError} `NOT_FOUND` where the block was made by another node, and this one would have refused it
 */
async function again(
  executor: Executor,
  record: BlockRecord,
  job: TransactionJob,
): Promise<Outcome> {
  try {
    return await executor.transact(job)
  } catch (error) {
    const isRefused = record.isLoaded === true && error instanceof DevchainError
    if (!isRefused || isInterruption(error) || error.word === 'LIMIT_EXCEEDED') throw error
    throw ranOtherwise(record, error.message)
  }
}

/** A replay that differs is a bug here, and its trace would be of something that never happened. */
function checkReplay(record: BlockRecord, index: number, { gasUsed }: Outcome): void {
  const { block, executed } = record
  const mined = executed[index]?.receipt.gasUsed
  if (mined === gasUsed) return
  if (record.isLoaded === true) {
    throw ranOtherwise(record, `transaction ${index} uses ${gasUsed} gas, and used ${mined} there`)
  }
  throw new Error(`replay of ${block.hash}, index ${index}: used ${gasUsed} gas, was ${mined}`)
}

function ranOtherwise({ block: { hash, header } }: BlockRecord, problem: string): DevchainError {
  const message = `trace of block ${header.number} (${hash}) not found: it was loaded from a dump of another node, and run again by the rules here it is another: ${problem}`
  return new DevchainError('NOT_FOUND', message)
}

function targetOf(
  {
    from,
    to,
    gasLimit,
    authorizationList,
  }: Omit<TracedTarget, 'coinbase' | 'authorities'> & {
    readonly authorizationList: readonly Authorization[]
  },
  { coinbase }: BlockEnvironment,
): TracedTarget {
  const authorities = authorizationList.map(authorityOf).filter((each) => each !== undefined)
  return { from, to, gasLimit, coinbase, authorities }
}
