// How a chain runs its jobs: the executor, state that may load lazily, and tracers.
import type { MaybePromise } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Executor, Tracer } from '../../evm/executor.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { isInSomeBlock } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { LazyState } from '../ledger/upstream.ts'
import type { BulkMining } from '../mining/bulkmining.ts'
import { cancellable, type TracerOf } from './cancellable.ts'

export interface CommandWatch {
  readonly tracer: Tracer
  /** The command begins or restarts: earlier events are void. */
  readonly begin: () => void
  readonly report: () => void
}

interface Running extends Omit<CommandWatch, 'tracer'> {
  readonly executor: Executor
}

export class Execution {
  readonly bulk: BulkMining | undefined
  #executor: Executor
  /** Undefined: all state is local. */
  #lazyState: LazyState | undefined
  readonly #watches: (() => CommandWatch)[] = []
  /** Watches calls. */
  callTracer: Tracer | undefined

  constructor(executor: Executor, bulk: BulkMining | undefined) {
    this.#executor = executor
    this.bulk = bulk
  }

  get executor(): Executor {
    return this.#executor
  }

  /** Makes the state of the chain lazily fetched. */
  fetchWith(lazyState: LazyState): void {
    if (this.#lazyState !== undefined) return
    this.#lazyState = lazyState
    this.#executor = lazyState.executor(this.#executor)
  }

  watchCommands(make: () => CommandWatch): void {
    this.#watches.push(make)
  }

  /** Whether transactions may run before their command: nothing watches them, and all state is local. */
  get canRunAhead(): boolean {
    return this.#watches.length === 0 && this.#lazyState === undefined
  }

  /** Runs work without side effects and fetches missing state. */
  complete<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return this.#lazyState === undefined ? work() : this.#lazyState.complete(work)
  }

  /** What one command runs with. Transactions that move from one block to another are not watched again. */
  ofCommand({ tree }: ChainState, cancellation: Cancellation): Running {
    const watches = this.#watches.map((make) => make())
    const tracer =
      watches.length > 0 ? combineTracers(watches.map((watch) => watch.tracer)) : undefined
    const fresh: TracerOf = ({ hash }) => (isInSomeBlock(tree, hash) ? undefined : tracer)
    return {
      executor: cancellable(this.#executor, cancellation, tracer && fresh),
      begin: () => {
        for (const watch of watches) watch.begin()
      },
      report: () => {
        for (const watch of watches) watch.report()
      },
    }
  }
}
