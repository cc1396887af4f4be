// What is not done while other chains are linked.
import { DevchainError } from '../../core/errors.ts'
import { nameOf, type PeersDoor } from '../../node/peers.ts'

/**
 * What takes blocks off the chain is not done while a peer has them: it would bring them back at once.
 * @param what in words that go on "cannot"
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
