// How a chain runs what it runs: on which executor, on a state that may come piece by piece, and watched by whom.
import type { MaybePromise } from '../../core/promises.ts'
import type { Executor, IsAwaited, Tracer } from '../../evm/executor.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { isInSomeBlock } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Piecemeal } from '../ledger/upstream.ts'
import type { BulkMining } from '../mining/bulkmining.ts'
import { AwaitedExecutor, type TracerOf } from './awaited.ts'

/** Watches the transactions of one command. */
export interface CommandWatch {
  readonly tracer: Tracer
  /** The command begins, or begins anew: what was heard before came to nothing. */
  readonly begin: () => void
  /** The command holds. */
  readonly tell: () => void
}

interface Running {
  readonly executor: Executor
  /** The command begins, or begins anew. */
  readonly begin: () => void
  /** The command holds. */
  readonly tell: () => void
}

export class Execution {
  /** Undefined: empty blocks are mined as any others. */
  readonly bulk: BulkMining | undefined
  #executor: Executor
  /** Undefined: all that the chain needs is here. */
  #piecemeal: Piecemeal | undefined
  readonly #watches: (() => CommandWatch)[] = []
  #callTracer: Tracer | undefined

  constructor(executor: Executor, bulk: BulkMining | undefined) {
    this.#executor = executor
    this.bulk = bulk
  }

  get executor(): Executor {
    return this.#executor
  }

  /** For the runs of calls; undefined: nobody watches them. */
  get callTracer(): Tracer | undefined {
    return this.#callTracer
  }

  /** From now on the state of the chain may be one that is fetched piece by piece. */
  fetchWith(piecemeal: Piecemeal): void {
    if (this.#piecemeal !== undefined) return
    this.#piecemeal = piecemeal
    this.#executor = piecemeal.executor(this.#executor)
  }

  watchCalls(tracer: Tracer): void {
    this.#callTracer = tracer
  }

  /** Has the transactions of each command watched from now on, as they are put into blocks. */
  watchCommands(make: () => CommandWatch): void {
    this.#watches.push(make)
  }

  /** Does work that has no effects, on whatever it needs. */
  complete<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return this.#piecemeal === undefined ? work() : this.#piecemeal.complete(work)
  }

  /**
   * What one command runs with. Runs are watched as users know them: a transaction that comes from one block into another
   * is run again, and was watched.
   */
  ofCommand({ tree }: ChainState, isAwaited: IsAwaited): Running {
    const watches = this.#watches.map((make) => make())
    const tracer =
      watches.length > 0 ? combineTracers(watches.map((watch) => watch.tracer)) : undefined
    const fresh: TracerOf = ({ hash }) => (isInSomeBlock(tree, hash) ? undefined : tracer)
    return {
      executor: new AwaitedExecutor(this.#executor, isAwaited, tracer && fresh),
      begin: () => {
        for (const watch of watches) watch.begin()
      },
      tell: () => {
        for (const watch of watches) watch.tell()
      },
    }
  }
}
