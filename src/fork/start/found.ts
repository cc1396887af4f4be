// What a fork begins with, once it is found.
import type { RefusedByUpstream } from '../client/client.ts'
import type { RemoteBlock } from '../network/header.ts'
import type { CassetteHead } from '../store/cassette.ts'

/** The block to go on from, and what else is asked at the start. */
export interface Found {
  readonly head: CassetteHead
  readonly block: RemoteBlock
  /** Number of the network's newest block. */
  readonly newest: bigint
  /** Blocks that a reorganization may take. */
  readonly depth: bigint
  /** False: nobody was asked yet. */
  readonly isSeen: boolean
  /** What the network says of the block's state, where it does not keep that: asked beside what the start waits for. */
  readonly pruned?: Promise<RefusedByUpstream | undefined> | undefined
}
