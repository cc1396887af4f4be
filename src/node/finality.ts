// From when on blocks can be safe and final.
import { DevchainError } from '../core/errors.ts'
import { isAtLeast } from '../protocol/forks.ts'
import { headOf } from './blocktree.ts'
import type { ChainState } from './chainstate.ts'

/**
 * Where only proof of stake makes blocks final, no block was before.
 * @throws {DevchainError} `INVALID_PARAMS` for `safe` and `finalized` before paris
 */
export function requireFinality({ tree, config }: ChainState, tag: string): void {
  if (!config.behaviour.finalityNeedsParis) return
  if (tag !== 'safe' && tag !== 'finalized') return
  const { number, timestamp } = headOf(tree).block.header
  const hardfork = config.hardforkAt(number, timestamp)
  if (isAtLeast(hardfork, 'paris')) return
  const message = `block: ${tag} names a block from paris on, the chain is at ${hardfork}`
  throw new DevchainError('INVALID_PARAMS', message, undefined, { tag, hardfork })
}
