// An executor for one piece of work, whose runs are cancelled with the work.
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Executor, Tracer, TransactionJob } from '../../evm/executor.ts'

export type TracerOf = (transaction: TransactionJob['transaction']) => Tracer | undefined

export function cancellable(
  executor: Executor,
  ownCancellation: Cancellation,
  tracerOf: TracerOf = () => undefined,
): Executor {
  return {
    ...executor,
    transact: ({ world, draft, block, transaction, limits, tracer, cancellation }) =>
      executor.transact({
        // the member order of replayed jobs, so that both share machine code
        world,
        draft,
        block,
        transaction,
        limits,
        tracer: tracer ?? tracerOf(transaction),
        cancellation: cancellation ?? ownCancellation,
      }),
    call: (job) => executor.call({ cancellation: ownCancellation, ...job }),
    rest: (cancellation = ownCancellation) => executor.rest(cancellation),
  }
}
