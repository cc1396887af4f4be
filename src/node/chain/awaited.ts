// An executor for one piece of work, which cancels its runs once nobody waits for the work.
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
    // the member order of replayed jobs, so that both share machine code
    return super.transact({ world, block, transaction, limits, tracer, isAwaited })
  }

  override call(job: CallJob): MaybePromise<Outcome> {
    return super.call({ isAwaited: this.#isAwaited, ...job })
  }

  override rest(isAwaited: IsAwaited = this.#isAwaited): Promise<void> {
    return super.rest(isAwaited)
  }
}
