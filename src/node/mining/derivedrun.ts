// Runs of too many empty blocks to hash: specified behaviour of bulk mining, not an accelerator.
import { hashBytes, keccak256 } from '../../core/crypto/crypto.ts'
import {
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  type Hash,
  hashFromBytes,
  paddedBytes,
} from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import { RING } from '../../state/systemslots.ts'
import { stateRoot, type World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { appendRun, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { type TimeRows, timestampIn } from '../ledger/clock.ts'
import type { MinedRun } from './bulkmining.ts'
import type { AlikeBlocks } from './emptyblocks.ts'
import { RECENT_RECORDS, type RunContents, RunRecord, type RunTemplate } from './runrecords.ts'

/** Most blocks of one command with real hashes; in longer runs only the last ones have them. */
export const MOST_SEALED = 1_000_000n

/** Blocks at the end of a long run with real hashes, for BLOCKHASH and the ring of hashes. */
const SEALED_TAIL = RING + 1n

export interface RunPlan extends RunTemplate {
  readonly count: number
  readonly times: TimeRows
}

/** Appends more than `MOST_SEALED` blocks without real hashes, up to the sealed tail. */
export function appendDerived(state: ChainState, blocks: AlikeBlocks): MinedRun {
  const run = new DerivedRun({
    parent: headOf(state.tree),
    count: blocks.count - Number(SEALED_TAIL),
    times: blocks.times,
    abandoned: state.tree.abandoned,
  })
  const tree = appendRun(state.tree, run, run.recordAt(run.count - 1))
  return { state: { ...state, tree }, blocks: BigInt(run.count) }
}

/**
 * Numbers, timestamps, parent links and state roots are right, but a block's hash comes from the run's seed and the
 * block's number, not from its header. System contracts are not written inside: the world is the parent's.
 */
export class DerivedRun implements RunContents {
  readonly count: number
  readonly template: RunPlan
  readonly #first: bigint
  readonly #seed: Uint8Array
  readonly #root: Hash
  readonly #records: (index: number) => BlockRecord

  constructor(plan: RunPlan) {
    const { hash, header } = plan.parent.block
    this.count = plan.count
    this.template = plan
    this.#first = header.number + 1n
    this.#seed = keccak256(concatBytes(hashBytes(hash), paddedBytes(BigInt(plan.count), 32)))
    this.#root = stateRoot(plan.parent.world)
    this.#records = memoize(RECENT_RECORDS, (index) => new RunRecord(this, index))
  }

  /** 24 bytes of a hash of seed and number, then the masked number, so that lookup by hash works. */
  hashAt(index: number): Hash {
    const number = paddedBytes(this.#first + BigInt(index), 8)
    const start = keccak256(concatBytes(this.#seed, number)).subarray(0, 24)
    const masked = number.map((byte, at) => byte ^ this.#seed[at]!)
    return hashFromBytes(concatBytes(start, masked))
  }

  indexOf(hash: Hash): number | undefined {
    const masked = bytesFromHex(hash).subarray(24)
    const number = bigintFromBytes(masked.map((byte, at) => byte ^ this.#seed[at]!))
    const index = Number(number - this.#first)
    const isInside = index >= 0 && index < this.count
    return isInside && this.hashAt(index) === hash ? index : undefined
  }

  recordAt(index: number): BlockRecord {
    return this.#records(index)
  }

  rootAt(): Hash {
    return this.#root
  }

  timestampAt(index: number): bigint {
    return timestampIn(this.template.times, index)
  }

  worldAt(): World {
    return this.template.parent.world
  }
}
