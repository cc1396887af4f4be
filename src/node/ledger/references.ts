// How callers name blocks.
import type { Hash } from '../../core/hex.ts'

export type BlockReference =
  | {
      readonly kind: 'tag'
      readonly tag: 'latest' | 'earliest' | 'pending' | 'safe' | 'finalized'
    }
  | { readonly kind: 'number'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly hash: Hash; readonly requireCanonical: boolean }

export const latest: BlockReference = { kind: 'tag', tag: 'latest' }

export const pendingReference: BlockReference = { kind: 'tag', tag: 'pending' }
