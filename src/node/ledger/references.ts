// How callers name blocks: by number, hash or tag.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { headOf } from './blocktree.ts'
import type { ChainState } from './chainstate.ts'

/** Tags of blocks that are there. */
type BlockTag = 'latest' | 'earliest' | 'safe' | 'finalized'

export type BlockReference =
  | { readonly kind: 'tag'; readonly tag: BlockTag | 'pending' }
  | { readonly kind: 'number'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly hash: Hash; readonly requireCanonical: boolean }

export const latest: BlockReference = { kind: 'tag', tag: 'latest' }

export const pendingReference: BlockReference = { kind: 'tag', tag: 'pending' }

/**
 * The block of a tag; of `safe` and `finalized` the genesis on chains that are too short.
 * @throws {DevchainError} `INVALID_PARAMS` for `safe` and `finalized` before paris: only proof of stake makes blocks
 *   final
 */
export function numberOfTag(state: ChainState, tag: BlockTag): bigint {
  const { tree, config } = state
  if (tag === 'earliest') return 0n
  const newest = headOf(tree).block.header.number
  if (tag === 'latest') return newest
  requireFinality(state, tag)
  const distance = (tag === 'safe' ? 1n : 2n) * config.behaviour.blocksInEpoch
  return newest > distance ? newest - distance : 0n
}

function requireFinality({ tree, config }: ChainState, tag: string): void {
  if (!config.behaviour.finalityNeedsParis) return
  const { number, timestamp } = headOf(tree).block.header
  const hardfork = config.hardforkAt(number, timestamp)
  if (isAtLeast(hardfork, 'paris')) return
  const message = `block: ${tag} names a block from paris on, the chain is at ${hardfork}`
  throw new DevchainError('INVALID_PARAMS', message, undefined, { tag, hardfork })
}
