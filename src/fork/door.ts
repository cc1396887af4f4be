// The door: what a chain, its methods and its options need of forks, and the only file of them that others import.
import type { Executor } from '../evm/executor.ts'
import type { MethodContext } from '../methods/common/context.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Piecemeal } from '../node/ledger/upstream.ts'
import type { Reach } from '../rpc/dispatch.ts'
import { adapted } from './arbitrum.ts'
import { passOn } from './boundary/passon.ts'
import { GatheringExecutor } from './executor.ts'
import { foresee } from './foresee.ts'
import { complete, completeCommand } from './network/gather.ts'
import { warmUp } from './start/warmup.ts'

export { type ForkSettings, type OpenFork, openFork } from './open.ts'

/** Loads what the first requests will need, for as long as something is waited for. */
export async function warmUpUntil(waited: Promise<unknown>, executor: Executor): Promise<void> {
  let isThere = false
  const end = (): void => {
    isThere = true
  }
  waited.then(end, end)
  await warmUp(executor, () => !isThere)
}

/** How a chain works that may be a fork. */
export function piecemealOf(chain: () => Chain | undefined): Piecemeal {
  return {
    executor: (inner) =>
      new GatheringExecutor(
        inner,
        (message, world) => foresee(chain()?.state.config.upstream, message, world),
        (job) => adapted(job, chain()?.state.config.upstream?.seenNumber),
      ),
    complete: completeCommand,
  }
}

/** How methods are answered of a chain that may be a fork. */
export const reach: Reach<MethodContext> = {
  passOn,
  complete: (_, method, work) => complete(work, { guesses: method.writes === undefined }),
}
