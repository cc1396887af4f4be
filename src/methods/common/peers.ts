// Refuses what is impossible while peers are linked.
import { DevchainError } from '../../core/errors.ts'
import { nameOf, type PeersDoor } from '../../node/peers.ts'

/**
 * Peers that have a removed block would send it back at once.
 * @param what phrase after "cannot"
 * @throws {DevchainError} `LINKED`
 */
export function requireUnlinked({ peers }: { readonly peers: PeersDoor }, what: string): void {
  const linked = peers.now?.isFollowing() === true ? (peers.now?.list() ?? []) : []
  const [first] = linked
  if (first === undefined) return
  const others = linked.length === 1 ? '' : ` and ${linked.length - 1} more`
  const message = `cannot ${what} while linked to ${nameOf(first)}${others}: its branch is heavier, and would be taken again at once. Call devchain_unlink first, or start with --follow off`
  throw new DevchainError('LINKED', message)
}
