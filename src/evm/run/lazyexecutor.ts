// The executor of chains, which loads its machines on the first job.
import { lazy } from '../../core/lrucache.ts'
import type { Executor, ExecutorOptions, Jobs } from '../executor.ts'

/** Loading takes long, and an unused chain should start at once. */
export function createExecutor(options: ExecutorOptions = {}): Executor {
  let jobs: Jobs | undefined
  let isClosed = false
  const loaded = lazy(async () => {
    const { createJobs } = await import('./jobs.ts')
    jobs = createJobs(options, () => isClosed)
    return jobs
  })
  return {
    transact: (job) => jobs?.transact(job) ?? loaded().then((made) => made.transact(job)),
    call: (job) => jobs?.call(job) ?? loaded().then((made) => made.call(job)),
    beginBlock: async (job) => (jobs ?? (await loaded())).beginBlock(job),
    endBlock: async (job) => (jobs ?? (await loaded())).endBlock(job),
    findWrongBlob: async (sidecar) => (jobs ?? (await loaded())).findWrongBlob(sidecar),
    rest: async (cancellation) => (jobs ?? (await loaded())).rest(cancellation),
    close: () => {
      isClosed = true
    },
  }
}
