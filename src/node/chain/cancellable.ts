// An executor for one piece of work, whose runs are cancelled with the work.
import type { MaybePromise } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { CallJob, Executor, Outcome, Tracer, TransactionJob } from '../../evm/executor.ts'
import { DelegatingExecutor } from './delegating.ts'

export type TracerOf = (transaction: TransactionJob['transaction']) => Tracer | undefined

const noTracer: TracerOf = () => undefined

export class CancellableExecutor extends DelegatingExecutor {
  readonly #cancellation: Cancellation
  readonly #tracerOf: TracerOf

  constructor(executor: Executor, cancellation: Cancellation, tracerOf: TracerOf = noTracer) {
    super(executor)
    this.#cancellation = cancellation
    this.#tracerOf = tracerOf
  }

  override transact(job: TransactionJob): MaybePromise<Outcome> {
    const { world, block, transaction, limits, cancellation = this.#cancellation } = job
    const { tracer = this.#tracerOf(transaction) } = job
    // the member order of replayed jobs, so that both share machine code
    return super.transact({ world, block, transaction, limits, tracer, cancellation })
  }

  override call(job: CallJob): MaybePromise<Outcome> {
    return super.call({ cancellation: this.#cancellation, ...job })
  }

  override rest(cancellation: Cancellation = this.#cancellation): Promise<void> {
    return super.rest(cancellation)
  }
}
