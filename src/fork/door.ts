// The public interface of forks: other rooms import only this file.
import { whenThere } from '../core/promises.ts'
import type { MethodContext } from '../methods/common/context.ts'
import type { LazyState, Upstream } from '../node/ledger/upstream.ts'
import type { Reach } from '../rpc/dispatch.ts'
import { passOn } from './boundary/passon.ts'
import { withWaitBudget } from './client/waitbudget.ts'
import { gatheringExecutor } from './executor.ts'
import { complete, completeCommand } from './network/gather.ts'
import { prefetch } from './prefetch.ts'

export { type ForkSettings, openFork } from './open.ts'
export { warmUp } from './start/warmup.ts'
export { type Merged, mergeRecordings } from './store/recording.ts'

export function lazyStateOf(upstream: () => Upstream | undefined): LazyState {
  return {
    executor: (inner) =>
      gatheringExecutor(
        inner,
        (message, world) => prefetch(upstream(), message, world),
        (job) => upstream()?.adapt?.(job) ?? job,
      ),
    complete: completeCommand,
  }
}

export const reach: Reach<MethodContext> = (context, method, params, work) =>
  withWaitBudget(() =>
    whenThere(passOn(context, method, params), (result) =>
      result === undefined ? complete(work, { guesses: method.effects === 'nothing' }) : result,
    ),
  )
