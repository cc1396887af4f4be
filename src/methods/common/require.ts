// Refuses what is impossible while peers are linked, and before the hardfork that it needs.
import { DevchainError } from '../../core/errors.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { nameOf, type PeersDoor } from '../../node/peers.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'

/**
 * Peers that have a removed block would send it back at once.
 * @param what phrase after "cannot"
 * @throws {DevchainError} `LINKED`
 */
export function requireUnlinked({ peers }: { readonly peers: PeersDoor }, what: string): void {
  const linked = peers.now?.isFollowing() === true ? peers.now.list() : []
  const [first] = linked
  if (first === undefined) return
  const others = linked.length === 1 ? '' : ` and ${linked.length - 1} more`
  const message = `cannot ${what} while linked to ${nameOf(first)}${others}: its branch would then be the heavier one, and this node would take it again. Call devchain_unlink first, or start with --follow off`
  throw new DevchainError('LINKED', message)
}

/** @throws {DevchainError} `METHOD_NOT_SUPPORTED` before the hardfork */
export function requireFork({ state, environment }: Chain, fork: Hardfork, what: string): void {
  const { hardfork } = nextRules(state, environment.now())
  if (isAtLeast(hardfork, fork)) return
  const message = `blocks have ${what} from ${fork} on, the chain is at ${hardfork}`
  throw new DevchainError('METHOD_NOT_SUPPORTED', message, undefined, { needed: fork, hardfork })
}
