// Executor of a chain that may be a fork: reruns a job once the missing state is fetched.
import type { MaybePromise } from '../core/promises.ts'
import type {
  BlockEnd,
  BlockStartJob,
  CallJob,
  Executor,
  Jobs,
  Outcome,
  TransactionJob,
} from '../evm/executor.ts'
import { DelegatingExecutor } from '../node/chain/delegating.ts'
import { isAtLeast } from '../protocol/forks.ts'
import { slotKey } from '../state/keys.ts'
import {
  CONSOLIDATION_REQUESTS,
  SYSTEM_ADDRESS,
  systemContracts,
  WITHDRAWAL_REQUESTS,
} from '../state/predeploys.ts'
import { accountAt, type World } from '../state/world.ts'
import { complete, type Gathering, gathering, withoutGuesses } from './network/gather.ts'

/** Slots that a queue's system call reads: excess and count of requests, head and tail (EIP-7002, EIP-7251). */
const QUEUE_SLOTS = [0n, 1n, 2n, 3n]

export type MessageCall = Pick<CallJob['message'], 'from' | 'to' | 'value' | 'data'>

type Prefetch = (message: MessageCall, world: World) => Promise<void> | undefined
type Adapt = <Job extends TransactionJob | CallJob>(job: Job) => Job

/** Jobs on worlds without missing state go straight to the inner executor. */
export class GatheringExecutor extends DelegatingExecutor {
  readonly #prefetch: Prefetch
  readonly #adapt: Adapt

  /**
   * @param prefetch prefetches what a message will need, which saves rounds
   * @param adapt changes a job to what its network would run
   */
  constructor(inner: Executor, prefetch: Prefetch, adapt: Adapt) {
    super(inner)
    this.#prefetch = prefetch
    this.#adapt = adapt
  }

  override transact(job: TransactionJob): MaybePromise<Outcome> {
    if (!job.world.accounts.isBacked) return super.transact(job)
    return this.#run(job, job.transaction, (each) => super.transact(this.#adapt(each)))
  }

  override call(job: CallJob): MaybePromise<Outcome> {
    if (!job.world.accounts.isBacked) return super.call(job)
    return this.#run(job, job.message, (each) => super.call(this.#adapt(each)))
  }

  override async beginBlock(job: BlockStartJob): Promise<World> {
    const work = (): Promise<World> => {
      if (job.world.accounts.isBacked) lookAhead(job)
      return super.beginBlock(job)
    }
    return complete(work, { guesses: true })
  }

  override async endBlock(job: Parameters<Jobs['endBlock']>[0]): Promise<BlockEnd> {
    return complete(() => super.endBlock(job), { guesses: true })
  }

  /** A tracer must see each event once, so the job runs without it until all state is known. */
  #run<Job extends TransactionJob | CallJob>(
    job: Job,
    message: MessageCall,
    run: (job: Job) => MaybePromise<Outcome>,
  ): MaybePromise<Outcome> {
    const outer = gathering()
    // after a guess, nothing more is fetched
    if (outer?.hasMisses) return run(withoutTracer(job, outer))
    const prefetch = (): Promise<void> | undefined => this.#prefetch(message, job.world)
    const rehearsed = complete((attempt) => run(withoutTracer(job, attempt)), {
      guesses: true,
      prefetch,
    })
    if (job.tracer === undefined) return rehearsed
    return Promise.resolve(rehearsed).then(() => withoutGuesses(() => run(job)))
  }
}

/** Reads the slots of the block's system calls, including those at its end, so that one round fetches them. */
function lookAhead({ world, block }: BlockStartJob): void {
  const { hardfork, coinbase } = block
  for (const { address } of systemContracts(hardfork)) accountAt(world, address)
  for (const address of [SYSTEM_ADDRESS, coinbase]) accountAt(world, address)
  if (!isAtLeast(hardfork, 'prague')) return
  for (const { address } of [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS]) {
    const storage = accountAt(world, address)?.storage
    for (const slot of QUEUE_SLOTS) storage?.get(slotKey(slot), slot)
  }
}

/** A job without a tracer that is cancelled once it has gone astray. */
function withoutTracer<Job extends TransactionJob | CallJob>(job: Job, attempt: Gathering): Job {
  const { cancellation } = job
  return {
    ...job,
    tracer: undefined,
    cancellation: {
      get aborted() {
        return attempt.isAstray || cancellation?.aborted === true
      },
      onPause: (gasUsed) => cancellation?.onPause?.(gasUsed),
    },
  }
}
