// An executor for one piece of work: it gives up what it runs once nobody waits for the work any more.
import type { MaybePromise } from '../../core/promises.ts'
import type {
  BlockEnd,
  BlockStartJob,
  CallJob,
  Executor,
  IsAwaited,
  Jobs,
  Outcome,
  Tracer,
  TransactionJob,
} from '../../evm/executor.ts'
import type { BlobSidecar } from '../../protocol/transactions/sidecar.ts'
import type { World } from '../../state/world.ts'

/** The executor with an `isAwaited` for each job that has none of its own, and a tracer for transactions without one. */
export class AwaitedExecutor implements Executor {
  readonly #executor: Executor
  readonly #isAwaited: IsAwaited
  readonly #tracer: Tracer | undefined

  constructor(executor: Executor, isAwaited: IsAwaited, tracer?: Tracer) {
    this.#executor = executor
    this.#isAwaited = isAwaited
    this.#tracer = tracer
  }

  transact(job: TransactionJob): MaybePromise<Outcome> {
    const { world, block, transaction, limits, isAwaited = this.#isAwaited } = job
    const { tracer = this.#tracer } = job
    // in the order of those that are run again: so machine code for one serves for both
    return this.#executor.transact({ world, block, transaction, limits, tracer, isAwaited })
  }

  call(job: CallJob): MaybePromise<Outcome> {
    return this.#executor.call({ isAwaited: this.#isAwaited, ...job })
  }

  beginBlock(job: BlockStartJob): Promise<World> {
    return this.#executor.beginBlock(job)
  }

  endBlock(job: Parameters<Jobs['endBlock']>[0]): Promise<BlockEnd> {
    return this.#executor.endBlock(job)
  }

  findWrongBlob(sidecar: BlobSidecar): Promise<number | undefined> {
    return this.#executor.findWrongBlob(sidecar)
  }

  rest(isAwaited: IsAwaited = this.#isAwaited): Promise<void> {
    return this.#executor.rest(isAwaited)
  }

  close(): void {
    this.#executor.close()
  }
}
