// The executor that chains are given: what runs their jobs is loaded when there is one.
import type { Executor, ExecutorOptions, Jobs } from './executor.ts'

/**
 * An executor whose machines are loaded when the first job comes: that takes up to a tenth of a second, and a chain that
 * nobody has used yet should be up at once.
 */
export function createExecutor(options: ExecutorOptions = {}): Executor {
  let workshop: Jobs | undefined
  let loading: Promise<Jobs> | undefined
  let isClosed = false
  const load = async (): Promise<Jobs> => {
    const { createWorkshop } = await import('./workshop.ts')
    workshop = createWorkshop(options, () => isClosed)
    return workshop
  }
  const loaded = (): Promise<Jobs> => {
    loading ??= load()
    return loading
  }
  return {
    transact: (job) => workshop?.transact(job) ?? loaded().then((jobs) => jobs.transact(job)),
    call: (job) => workshop?.call(job) ?? loaded().then((jobs) => jobs.call(job)),
    beginBlock: async (job) => (workshop ?? (await loaded())).beginBlock(job),
    endBlock: async (job) => (workshop ?? (await loaded())).endBlock(job),
    findWrongBlob: async (sidecar) => (workshop ?? (await loaded())).findWrongBlob(sidecar),
    rest: async (isAwaited) => (workshop ?? (await loaded())).rest(isAwaited),
    close: () => {
      isClosed = true
    },
  }
}
