// The next block, built ahead while transactions wait: it is read as the pending block, and mined when its time comes.
import { DevchainError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Executor } from '../../evm/executor.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { nextTimestamp } from '../ledger/clock.ts'
import { isInstant } from '../ledger/miningmode.ts'
import {
  type BegunBlock,
  filledBlock,
  isOfSameBlock,
  type MineOptions,
  pendingRecord,
} from '../mining/miner.ts'
import { cancellable } from './cancellable.ts'
import type { Discards } from './discards.ts'
import type { Execution } from './execution.ts'
import { Readers } from './readers.ts'

/** Fewer waiting transactions are run when the block is mined. */
const LEAST_WAITING = 16

/** To build on goes through the whole block, so it waits until the pool is so many times as large. */
const GROWTH = 9 / 8

/** A transaction that takes longer, in milliseconds by the clock, is left to who mines it. */
const MOST_AHEAD_MS = 500

interface Builder {
  readonly state: ChainState
  readonly environment: { now(): number; onBug(error: unknown): void }
  readonly execution: Execution
}

interface PendingBlock {
  readonly state: ChainState
  readonly timestamp: bigint
  readonly readers: Readers
  readonly record: Promise<BlockRecord>
}

/** A build under way, whose block later ones go on with. */
interface Build {
  readonly state: ChainState
  readonly end: Promise<void>
  /** A command waits to go on with the block as it is. */
  isWanted: boolean
}

export class NextBlock {
  readonly #chain: Builder
  readonly #discards: Discards
  #pending: PendingBlock | undefined
  /** Undefined also while it is in use. */
  #begun: BegunBlock | undefined
  #running: Build | undefined
  #due: NodeJS.Immediate | undefined
  /** The state that was followed last. */
  #last: ChainState | undefined
  /** Waiting transactions from which on it is built on. */
  #worthAt = LEAST_WAITING

  constructor(chain: Builder, discards: Discards) {
    this.#chain = chain
    this.#discards = discards
  }

  /** As `Chain.pending`. */
  async record(cancellation?: Cancellation): Promise<BlockRecord> {
    const { state, environment } = this.#chain
    const now = environment.now()
    const timestamp = nextTimestamp(state, now)
    const known = this.#pending
    if (
      known?.state === state &&
      known.timestamp === timestamp &&
      known.readers.join(cancellation)
    ) {
      return known.record
    }
    const readers = new Readers(cancellation)
    const record = this.#build(state, { now }, readers, pendingRecord)
      .catch((error: unknown) => {
        if (this.#pending?.record === record) this.#pending = undefined
        throw error
      })
      .finally(() => readers.end())
    this.#pending = { state, timestamp, readers, record }
    return record
  }

  /**
   * The block as far as it is built, for a command that mines it.
   * @param executor of the command: it waits for a reader's build, which may take long, until it is cancelled
   */
  take(executor: Pick<Executor, 'rest'>): MaybePromise<BegunBlock | undefined> {
    if (!this.#chain.execution.canRunAhead) return undefined
    // else it would be run beside the command
    clearImmediate(this.#due)
    this.#due = undefined
    if (this.#running === undefined) return this.#take()
    this.#running.isWanted = true
    return this.#takeWhenFree(executor)
  }

  async #takeWhenFree(executor: Pick<Executor, 'rest'>): Promise<BegunBlock | undefined> {
    while (this.#running !== undefined) await executor.rest()
    return this.#take()
  }

  /** Call it when the state has changed. */
  follow(): void {
    const { state } = this.#chain
    this.#pending = undefined
    if (this.#begun && !isOfSameBlock(this.#begun.state, state)) this.#begun = undefined
    if (this.#running && !isGrown(this.#running.state, state)) this.#running = undefined
    if (this.#last && !isOfSameBlock(this.#last, state)) this.#worthAt = LEAST_WAITING
    this.#last = state
    this.#buildSoon()
  }

  forget(): void {
    clearImmediate(this.#due)
    this.#due = undefined
    this.#pending = undefined
    this.#begun = undefined
    this.#running = undefined
    this.#last = undefined
  }

  #buildSoon(): void {
    if (!this.#isWorthBuilding()) return
    this.#due ??= setImmediate(() => {
      this.#due = undefined
      if (this.#isWorthBuilding()) void this.#buildAhead()
    })
  }

  #isWorthBuilding(): boolean {
    const { state, execution } = this.#chain
    const isOfUse = !isInstant(state.mining) && execution.canRunAhead
    return isOfUse && this.#running === undefined && state.pool.size >= this.#worthAt
  }

  #whenFree<T>(use: () => MaybePromise<T>): MaybePromise<T> {
    return this.#running?.end.then(() => this.#whenFree(use)) ?? use()
  }

  #take(): BegunBlock | undefined {
    const begun = this.#begun
    this.#begun = undefined
    return begun
  }

  async #buildAhead(): Promise<void> {
    const { state, environment } = this.#chain
    this.#worthAt = state.pool.size * GROWTH
    const isOld = (): boolean => !isGrown(state, this.#chain.state)
    let end = performance.now() + MOST_AHEAD_MS
    const patience = {
      aborted: false,
      onPause(gasUsed?: bigint): void {
        const now = performance.now()
        // between two transactions
        if (gasUsed === undefined) end = now + MOST_AHEAD_MS
        this.aborted = now > end || isOld()
      },
    }
    const options = { now: environment.now(), isFull: () => this.#running?.isWanted === true }
    try {
      await this.#build(state, options, patience, (_, { draft }) => draft.hash())
    } catch (error) {
      // who mines the block gets the refusal
      if (!(error instanceof DevchainError)) environment.onBug(error)
      if (!isOld()) this.#worthAt = Number.POSITIVE_INFINITY
    }
  }

  async #build<T>(
    state: ChainState,
    options: Pick<MineOptions, 'now' | 'isFull'>,
    cancellation: Cancellation,
    use: (executor: Executor, begun: BegunBlock) => T,
  ): Promise<Awaited<T>> {
    const { execution } = this.#chain
    const executor = cancellable(execution.executor, this.#discards.draft(cancellation))
    return this.#whenFree(() => {
      const begun = this.#take()
      const work = async (): Promise<Awaited<T>> => {
        const filled = await filledBlock(executor, state, { ...options, begun })
        const used = await use(executor, filled)
        if (this.#running === build) this.#begun = filled
        return used
      }
      const result = Promise.resolve(execution.complete(work))
      const ended = (): void => {
        if (this.#running === build) this.#running = undefined
        this.#buildSoon()
      }
      const build = { state, end: result.then(ended, ended), isWanted: false }
      // builds on fetched state share nothing
      const isShared = !headOf(state.tree).world.accounts.isBacked
      if (isShared && isGrown(state, this.#chain.state)) this.#running = build
      return result
    })
  }
}

/** Whether the second state can differ from the first only by time and by transactions that joined its pool. */
function isGrown(before: ChainState, state: ChainState): boolean {
  const joined = state.pool.size - before.pool.size
  const arrived = state.pool.lastArrival - before.pool.lastArrival
  return isOfSameBlock(before, state) && joined === arrived && joined >= 0
}
