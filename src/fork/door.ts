// The door: what a chain, its methods and its options need of forks, and the only file of them that others import.
import type { MethodContext } from '../methods/common/context.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Piecemeal } from '../node/ledger/upstream.ts'
import type { Reach } from '../rpc/dispatch.ts'
import { passOn } from './boundary/passon.ts'
import { GatheringExecutor } from './executor.ts'
import { foresee } from './foresee.ts'
import { complete, completeCommand } from './gather.ts'

export { type ForkSettings, type OpenFork, openFork } from './open.ts'

/** How a chain works that may be a fork. */
export function piecemealOf(chain: () => Chain | undefined): Piecemeal {
  return {
    executor: (inner) =>
      new GatheringExecutor(inner, (message, world) =>
        foresee(chain()?.state.config.upstream, message, world),
      ),
    complete: completeCommand,
  }
}

/** How methods are answered of a chain that may be a fork. */
export const reach: Reach<MethodContext> = {
  passOn,
  complete: (_, method, work) => complete(work, { guesses: method.writes === undefined }),
}
