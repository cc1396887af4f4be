// An executor for one piece of work: it gives up what it runs once nobody waits for the work any more.
import type { MaybePromise } from '../../core/promises.ts'
import type {
  CallJob,
  Executor,
  IsAwaited,
  Outcome,
  Tracer,
  TransactionJob,
} from '../../evm/executor.ts'
import { DelegatingExecutor } from './delegating.ts'

export type TracerOf = (transaction: TransactionJob['transaction']) => Tracer | undefined

const noTracer: TracerOf = () => undefined

/** The executor with an `isAwaited` for each job that has none of its own, and a tracer for transactions without one. */
export class AwaitedExecutor extends DelegatingExecutor {
  readonly #isAwaited: IsAwaited
  readonly #tracerOf: TracerOf

  constructor(executor: Executor, isAwaited: IsAwaited, tracerOf: TracerOf = noTracer) {
    super(executor)
    this.#isAwaited = isAwaited
    this.#tracerOf = tracerOf
  }

  override transact(job: TransactionJob): MaybePromise<Outcome> {
    const { world, block, transaction, limits, isAwaited = this.#isAwaited } = job
    const { tracer = this.#tracerOf(transaction) } = job
    // in the order of those that are run again: so machine code for one serves for both
    return super.transact({ world, block, transaction, limits, tracer, isAwaited })
  }

  override call(job: CallJob): MaybePromise<Outcome> {
    return super.call({ isAwaited: this.#isAwaited, ...job })
  }

  override rest(isAwaited: IsAwaited = this.#isAwaited): Promise<void> {
    return super.rest(isAwaited)
  }
}
