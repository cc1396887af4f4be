// The cell: one chain, holding one immutable state, changed by one command at a time.
import { randomBytes } from 'node:crypto'
import { DevchainError } from '../../core/errors.ts'
import type { Progress } from '../../core/progress.ts'
import { isPromise, type MaybePromise, whenThere } from '../../core/promises.ts'
import type { BlockEnvironment, Executor, IsAwaited } from '../../evm/executor.ts'
import { signersOf } from '../accounts/accounts.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { headChange } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { CommandOf, StateChange } from '../ledger/change.ts'
import { nextTimestamp } from '../ledger/clock.ts'
import type { BulkMining } from '../mining/bulkmining.ts'
import { blockEnvironment } from '../mining/environment.ts'
import { buildPending } from '../mining/miner.ts'
import { AwaitedExecutor } from './awaited.ts'
import { Execution } from './execution.ts'
import { Readers } from './readers.ts'
import { type Command, type CommandOptions, Recall } from './recall.ts'
import { WorldsBetween } from './worldsbetween.ts'

/** What a chain needs of the world outside; tests pass their own. */
export interface Environment {
  /** Wall time in milliseconds since 1970. */
  now(): number
  /** Random bytes, for keys and salts. */
  random(length: number): Uint8Array
  /** Gets what is thrown where no caller waits for it: in listeners and timers. */
  onBug(error: unknown): void
  /** Called when work begins that no caller asked for; what it returns is called when the work ends. */
  begin?(name: string, progress: Progress): () => void
}

export const systemEnvironment: Environment = {
  now: () => Date.now(),
  random: (length) => new Uint8Array(randomBytes(length)),
  onBug: (error) => console.error(error),
}

const MAX_WAITING = 100_000

const MAX_LISTENERS = 10_000

export interface ChainParts {
  readonly state: ChainState
  readonly executor: Executor
  readonly environment: Environment
  /** Undefined: empty blocks are mined as any others. */
  readonly bulk?: BulkMining | undefined
  readonly commit?: Commit | undefined
}

/**
 * Takes a change before it holds, for whoever keeps the states of a chain elsewhere. Listeners are told, and the command is
 * answered, once it has; when it throws, the chain stays as it was.
 */
export type Commit = (change: StateChange) => MaybePromise<void>

/** The block that would be mined, remembered for as long as it would be the same. */
interface PendingBlock {
  readonly state: ChainState
  readonly timestamp: bigint
  readonly readers: Readers
  readonly record: Promise<BlockRecord>
}

/** What contracts can learn of a block, remembered while calls ask about the same one. */
interface KnownEnvironment {
  readonly state: ChainState
  readonly record: BlockRecord
  readonly environment: BlockEnvironment
}

/** One isolated chain. Readers take `state`, a value that never changes under them; writers use `update`. */
export class Chain {
  readonly environment: Environment
  readonly execution: Execution
  /** Of blocks that were run again lately. */
  readonly worldsBetween: WorldsBetween = new WorldsBetween()
  readonly #commitTo: Commit | undefined
  #state: ChainState
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #recall = new Recall()
  readonly #listeners = new Set<(change: StateChange) => void>()
  readonly #closers: (() => void)[] = []
  #pending: PendingBlock | undefined
  #known: KnownEnvironment | undefined
  #instance: Uint8Array | undefined
  #headMadeAt: number

  constructor({ state, executor, environment, bulk, commit }: ChainParts) {
    this.#state = state
    this.execution = new Execution(executor, bulk)
    this.environment = environment
    this.#commitTo = commit
    if (bulk !== undefined) this.onChange(bulk.release)
    this.#headMadeAt = environment.now()
  }

  get state(): ChainState {
    return this.#state
  }

  get executor(): Executor {
    return this.execution.executor
  }

  /** Wall time in milliseconds at which the last block came, whatever its timestamp says: the genesis with the chain. */
  get headMadeAt(): number {
    return this.#headMadeAt
  }

  /** 32 random bytes that tell this chain from every other that ever ran. */
  get instance(): Uint8Array {
    this.#instance ??= this.environment.random(32)
    return this.#instance
  }

  /**
   * Runs a command on the newest state and puts its result in place. Commands run one at a time in the order of the
   * calls; one that throws changes nothing. Listeners have run when the promise resolves. A command must not
   * call `update` itself: it would wait for its own end. The executor that it is given gives up what it runs when the
   * command is to be given up (see `CommandOptions`), or the chain is closed.
   * @throws {DevchainError} `LIMIT_EXCEEDED` when too many commands wait; `ABANDONED` when it is given up; and whatever
   *   `change` throws
   */
  async update<T>(change: CommandOf<T>, order: CommandOptions = {}): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      const message = `too many commands wait: there may be ${MAX_WAITING} at a time`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    this.#waiting += 1
    const command = this.#recall.enter(order)
    const result = this.#turn.then(() => this.#run(change, command, order.peer))
    // the next command waits for this one's end, however it ends; its error goes to its own caller
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }

  /**
   * Calls `listener` with every change of the state, after it is in place. What a listener throws goes to
   * `environment.onBug`; the others are called all the same.
   * @returns ends the listening
   * @throws {DevchainError} `LIMIT_EXCEEDED` when too many listen
   */
  onChange(listener: (change: StateChange) => void): () => void {
    if (this.#listeners.size >= MAX_LISTENERS) {
      const message = `too many listeners: there may be ${MAX_LISTENERS} at a time`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    // a function of its own for each call, so that one listener may listen twice and end each separately
    const tell = (change: StateChange): void => listener(change)
    this.#listeners.add(tell)
    return () => {
      this.#listeners.delete(tell)
    }
  }

  /**
   * The block that would be mined now, with all that fits of the pool. It is in no tree, and gets no number by hash.
   * All who read it while it is built share one building, which goes on while one of them waits.
   * @param isAwaited false once this reader waits no longer; undefined: it always does
   * @throws {DevchainError} `ABANDONED` when no reader waits any more, and when the chain is reset, reverted or closed
   *   meanwhile
   */
  async pending(isAwaited?: IsAwaited): Promise<BlockRecord> {
    const state = this.#state
    const now = this.environment.now()
    const timestamp = nextTimestamp(state, now)
    const known = this.#pending
    if (known?.state === state && known.timestamp === timestamp && known.readers.join(isAwaited)) {
      return known.record
    }
    const readers = new Readers(isAwaited)
    const command = this.#recall.read(readers.isAwaited)
    const executor = new AwaitedExecutor(this.executor, command.isAwaited)
    const record = Promise.resolve(
      this.execution.complete(() => buildPending(executor, state, now)),
    )
      .catch((error: unknown) => {
        if (this.#pending?.record === record) this.#pending = undefined
        throw command.explained(error)
      })
      .finally(() => readers.end())
    this.#pending = { state, timestamp, readers, record }
    return record
  }

  /**
   * What contracts that are called on a block learn of it, where signatures count as whose they do now. The same value for
   * the same block, until the state changes: engines know it by identity.
   */
  environmentOf(record: BlockRecord): BlockEnvironment {
    const state = this.#state
    const known = this.#known
    if (known?.state === state && known.record === record) return known.environment
    const past = blockEnvironment(state, record)
    const signers = signersOf(state.accounts)
    const environment = signers === past.signers ? past : { ...past, signers }
    this.#known = { state, record, environment }
    return environment
  }

  /** Has `end` called when the chain is closed: for timers and the like that serve it. */
  onClose(end: () => void): void {
    this.#closers.push(end)
  }

  /** Ends what serves it, and its listeners. The state stays readable. */
  close(): void {
    this.#recall.close()
    for (const end of this.#closers.splice(0)) end()
    this.#listeners.clear()
    this.#pending = undefined
    this.#known = undefined
  }

  async #run<T>(change: CommandOf<T>, command: Command, peer?: string): Promise<T> {
    try {
      command.begin()
      const before = this.#state
      const running = this.execution.ofCommand(before, command.isAwaited)
      const changed = this.execution.complete(() => {
        running.begin()
        return change(before, running.executor)
      })
      const { state: after, value, dropped = [] } = isPromise(changed) ? await changed : changed
      if (after !== before) {
        const head = headChange(before.tree, after.tree)
        const stored = this.#commit({ before, after, head, dropped, peer })
        if (isPromise(stored)) await stored
        running.tell()
      }
      return value
    } catch (error) {
      throw command.explained(error)
    } finally {
      this.#waiting -= 1
    }
  }

  /** Puts a state in place, and tells of it. It is replaced nowhere else. */
  #commit(change: StateChange): MaybePromise<void> {
    return whenThere(this.#commitTo?.(change), () => {
      this.#state = change.after
      if (change.head.added.length > 0) this.#headMadeAt = this.environment.now()
      this.#tell(change)
    })
  }

  #tell(change: StateChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.environment.onBug(error)
      }
    }
  }
}
