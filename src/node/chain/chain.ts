// One chain: it holds one immutable state, which one command at a time replaces.
import { randomBytes } from 'node:crypto'
import { limitExceeded } from '../../core/errors.ts'
import type { Progress } from '../../core/progress.ts'
import { isPromise, type MaybePromise, whenThere } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { BlockEnvironment, Executor } from '../../evm/executor.ts'
import { signersOf } from '../accounts/accounts.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { headChange, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { CommandOf, StateChange } from '../ledger/change.ts'
import { KeptRecord } from '../ledger/packing/keptrecord.ts'
import type { BulkMining } from '../mining/bulkmining.ts'
import { blockEnvironment } from '../mining/environment.ts'
import { type Command, type CommandOptions, Discards } from './discards.ts'
import { Execution } from './execution.ts'
import { NextBlock } from './nextblock.ts'
import { WorldsBetween } from './worldsbetween.ts'

export interface Environment {
  /** Wall time in milliseconds since 1970. */
  now(): number
  random(length: number): Uint8Array
  /** Gets errors that no caller waits for: from listeners and timers. */
  onBug(error: unknown): void
  /** Called when background work begins; the returned function is called at its end. */
  begin?(name: string, progress: Progress): () => void
}

export const systemEnvironment: Environment = {
  now: () => Date.now(),
  random: (length) => new Uint8Array(randomBytes(length)),
  onBug: (error) => console.error(error),
}

const MAX_WAITING = 100_000

const MAX_LISTENERS = 10_000

interface ChainParts {
  readonly state: ChainState
  readonly executor: Executor
  readonly environment: Environment
  readonly bulk?: BulkMining | undefined
  readonly commit?: Commit | undefined
}

/** Persists a change before it takes effect and listeners get it. If it throws, the chain stays unchanged. */
export type Commit = (change: StateChange) => MaybePromise<void>

interface KnownEnvironment {
  readonly state: ChainState
  readonly record: BlockRecord
  readonly environment: BlockEnvironment
}

/** One isolated chain. Readers take `state`, which is immutable; writers use `update`. */
export class Chain {
  readonly environment: Environment
  readonly execution: Execution
  readonly worldsBetween: WorldsBetween = new WorldsBetween()
  readonly nextBlock: NextBlock
  readonly #commitTo: Commit | undefined
  #state: ChainState
  #turn: Promise<unknown> = Promise.resolve()
  /** Many short commands in a row would hold the loop as one long command would. */
  readonly #yieldIfDue = yielder()
  #waiting = 0
  readonly #discards = new Discards()
  readonly #listeners = new Set<(change: StateChange) => void>()
  readonly #closers: (() => void)[] = []
  #known: KnownEnvironment | undefined
  #instance: Uint8Array | undefined
  #headMadeAt: number

  constructor({ state, executor, environment, bulk, commit }: ChainParts) {
    this.#state = state
    this.execution = new Execution(executor, bulk)
    this.environment = environment
    this.nextBlock = new NextBlock(this, this.#discards)
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

  /** Wall time in milliseconds at which the last block came, whatever its timestamp. */
  get headMadeAt(): number {
    return this.#headMadeAt
  }

  /** 32 random bytes that identify this run of the chain. */
  get instance(): Uint8Array {
    this.#instance ??= this.environment.random(32)
    return this.#instance
  }

  /**
   * Runs a command on the newest state and commits its result. Commands run one at a time in the order of the calls;
   * one that throws changes nothing. Listeners have run when the promise resolves. A command must not call `update`
   * itself: it would wait for its own end. Its executor cancels runs with the command (see `CommandOptions`) or when
   * the chain is closed.
   * @throws {DevchainError} `LIMIT_EXCEEDED` when too many commands wait; `CANCELLED` when it is cancelled; and
   *   whatever `change` throws
   */
  async update<T>(change: CommandOf<T>, order: CommandOptions = {}): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw limitExceeded(`too many commands are queued: the limit is ${MAX_WAITING}`)
    }
    this.#waiting += 1
    const command = this.#discards.enter(order)
    const result = this.#turn.then(() => this.#run(change, command, order.peer))
    // the next command waits for this one to settle; an error goes only to its own caller
    const end = (): Promise<void> | undefined =>
      this.#waiting > 0 ? this.#yieldIfDue() : undefined
    this.#turn = result.then(end, end)
    return result
  }

  /** Between two commands, puts the same state as other objects in place of this one. Nobody is notified. */
  async exchange(state: () => MaybePromise<ChainState>): Promise<void> {
    const result = this.#turn.then(async () => {
      this.#state = await state()
      this.nextBlock.forget()
      this.#known = undefined
    })
    this.#turn = result.catch(() => undefined)
    return result
  }

  /**
   * Calls `listener` after every state change. Its errors go to `environment.onBug` and do not stop other listeners.
   * @returns removes the listener
   * @throws {DevchainError} `LIMIT_EXCEEDED` when too many listen
   */
  onChange(listener: (change: StateChange) => void): () => void {
    if (this.#listeners.size >= MAX_LISTENERS) {
      throw limitExceeded(`too many listeners: the limit is ${MAX_LISTENERS}`)
    }
    // a new function for each call, so that one listener may be registered twice and removed separately
    const entry = (change: StateChange): void => listener(change)
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /**
   * The pending block, with all transactions of the pool that fit. It is in no tree, and has no number by hash.
   * Concurrent readers share one build, which continues while one of them waits.
   * @param cancellation of this reader; undefined: it always waits
   * @throws {DevchainError} `CANCELLED` when all readers are gone, or when the chain is reset, reverted or closed meanwhile
   */
  pending(cancellation?: Cancellation): Promise<BlockRecord> {
    return this.nextBlock.record(cancellation)
  }

  /** For a read that begins now: a later reset cancels it, and so does the end of the chain. */
  reading(): Cancellation {
    return this.#discards.read()
  }

  /** The same object until the state changes, because engines cache by identity. */
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

  onClose(end: () => void): void {
    this.#closers.push(end)
  }

  close(): void {
    this.#discards.close()
    for (const end of this.#closers.splice(0)) end()
    this.#listeners.clear()
    this.nextBlock.forget()
    this.#known = undefined
  }

  async #run<T>(change: CommandOf<T>, command: Command, peer?: string): Promise<T> {
    try {
      command.begin()
      const before = this.#state
      const running = this.execution.ofCommand(before, command)
      const changed = this.execution.complete(() => {
        running.begin()
        return change(before, running.executor)
      })
      const { state: after, value, dropped = [] } = isPromise(changed) ? await changed : changed
      if (after !== before) {
        // a revert may make an old block the head
        const held = KeptRecord.hold(headOf(after.tree))
        if (held !== undefined) await held
        const head = headChange(before.tree, after.tree)
        const stored = this.#commit({ before, after, head, dropped, peer })
        if (isPromise(stored)) await stored
        running.report()
      }
      return value
    } finally {
      this.#waiting -= 1
    }
  }

  /** The only place that replaces the state. */
  #commit(change: StateChange): MaybePromise<void> {
    return whenThere(this.#commitTo?.(change), () => {
      this.#state = change.after
      this.nextBlock.follow()
      if (change.head.added.length > 0) this.#headMadeAt = this.environment.now()
      this.#notify(change)
    })
  }

  #notify(change: StateChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.environment.onBug(error)
      }
    }
  }
}
