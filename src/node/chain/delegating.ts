// Base class of executors that change some jobs of another executor.
import type { MaybePromise } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type {
  BlockEnd,
  BlockStartJob,
  CallJob,
  Executor,
  Jobs,
  Outcome,
  TransactionJob,
} from '../../evm/executor.ts'
import type { BlobSidecar } from '../../protocol/transactions/sidecar.ts'
import type { World } from '../../state/world.ts'

export class DelegatingExecutor implements Executor {
  readonly #inner: Executor

  constructor(inner: Executor) {
    this.#inner = inner
  }

  transact(job: TransactionJob): MaybePromise<Outcome> {
    return this.#inner.transact(job)
  }

  call(job: CallJob): MaybePromise<Outcome> {
    return this.#inner.call(job)
  }

  beginBlock(job: BlockStartJob): Promise<World> {
    return this.#inner.beginBlock(job)
  }

  endBlock(job: Parameters<Jobs['endBlock']>[0]): Promise<BlockEnd> {
    return this.#inner.endBlock(job)
  }

  findWrongBlob(sidecar: BlobSidecar): Promise<number | undefined> {
    return this.#inner.findWrongBlob(sidecar)
  }

  rest(cancellation?: Cancellation): Promise<void> {
    return this.#inner.rest(cancellation)
  }

  close(): void {
    this.#inner.close()
  }
}
