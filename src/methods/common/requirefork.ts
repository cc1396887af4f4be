// Refuses methods before the hardfork that they need, where a node does so (`--compat`).
import { DevchainError } from '../../core/errors.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'

/** @throws {DevchainError} `METHOD_NOT_SUPPORTED` before the hardfork */
export function requireFork({ state, environment }: Chain, fork: Hardfork, what: string): void {
  const { hardfork } = nextRules(state, environment.now())
  if (isAtLeast(hardfork, fork)) return
  const message = `blocks have ${what} from ${fork} on, the chain is at ${hardfork}`
  throw new DevchainError('METHOD_NOT_SUPPORTED', message, undefined, { needed: fork, hardfork })
}
