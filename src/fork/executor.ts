// Executor of a chain that may be a fork: reruns a job once the missing state is fetched.
import type { MaybePromise } from '../core/promises.ts'
import type {
  BlockStart,
  BlockStartJob,
  CallJob,
  Executor,
  Outcome,
  TransactionJob,
} from '../evm/executor.ts'
import { slotKey } from '../state/keys.ts'
import { queuesOf, SYSTEM_ADDRESS, systemContracts } from '../state/predeploys.ts'
import { QUEUE_SLOTS } from '../state/systemslots.ts'
import { accountAt, type World } from '../state/world.ts'
import { complete, Gathering, gathering, within } from './network/gather.ts'

export type MessageCall = Pick<CallJob['message'], 'from' | 'to' | 'value' | 'data'>

type Prefetch = (message: MessageCall, world: World) => Promise<void> | undefined
type Adapt = <Job extends TransactionJob | CallJob>(job: Job) => Job

/**
 * Jobs on worlds without missing state go straight to the inner executor.
 * @param prefetch prefetches what a message will need, which saves rounds
 * @param adapt changes a job to what its network would run
 */
export function gatheringExecutor(inner: Executor, prefetch: Prefetch, adapt: Adapt): Executor {
  /** A tracer must see each event once, so the job runs without it until all state is known. */
  const gather = <Job extends TransactionJob | CallJob>(
    job: Job,
    message: MessageCall,
    runJob: (job: Job) => MaybePromise<Outcome>,
  ): MaybePromise<Outcome> => {
    if (!job.world.accounts.isBacked) return runJob(job)
    const run = (each: Job): MaybePromise<Outcome> => runJob(adapt(each))
    const outer = gathering()
    // after a guess, nothing more is fetched
    if (outer?.hasMisses) return run(withoutTracer(job, outer))
    const rehearsed = complete((attempt) => run(withoutTracer(job, attempt)), {
      guesses: true,
      prefetch: () => prefetch(message, job.world),
    })
    if (job.tracer === undefined) return rehearsed
    return Promise.resolve(rehearsed).then(() => within(new Gathering(false), () => run(job)))
  }
  return {
    ...inner,
    transact: (job) => gather(settled(job), job.transaction, inner.transact),
    call: (job) => gather(job, job.message, inner.call),
    beginBlock: async (job) => {
      const work = (): Promise<BlockStart> => {
        if (job.world.accounts.isBacked) lookAhead(job)
        return inner.beginBlock(job)
      }
      return complete(work, { guesses: true })
    },
    endBlock: async (job) => complete(() => inner.endBlock(job), { guesses: true }),
  }
}

/** A job without a draft, as what adapts a job changes its world. */
function settled(job: TransactionJob): TransactionJob {
  const { world, draft } = job
  if (draft === undefined || !world.accounts.isBacked) return job
  return { ...job, world: draft.settle(), draft: undefined }
}

/** Reads the slots of the block's system calls, including those at its end, so that one round fetches them. */
function lookAhead({ world, block }: BlockStartJob): void {
  const { hardfork, coinbase } = block
  for (const { address } of systemContracts(hardfork)) accountAt(world, address)
  for (const address of [SYSTEM_ADDRESS, coinbase]) accountAt(world, address)
  for (const { address } of queuesOf(hardfork)) {
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
      get event() {
        return cancellation?.event
      },
      onPause: (gasUsed) => cancellation?.onPause?.(gasUsed),
    },
  }
}
