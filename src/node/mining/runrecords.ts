// Block records of a run, made on read from hash, state root and timestamp.
import { integerSize } from '../../core/fastrlp/writer.ts'
import type { Hash } from '../../core/hex.ts'
import { hashAccessList } from '../../protocol/blocks/accesslist.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { Header, LaterFields } from '../../protocol/blocks/header.ts'
import { emptyAccessList, listedQueues } from '../../state/systemslots.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord, BlockRun } from '../ledger/blockrecord.ts'
import { derivedRandao } from './environment.ts'

export interface RunTemplate {
  /** The block before the first: empty, with the same header but for what follows from number and time. */
  readonly parent: BlockRecord
  /** Blocks that had left the chain before (`BlockTree.abandoned`). */
  readonly abandoned: number
}

export interface RunContents extends BlockRun {
  readonly template: RunTemplate
  rootAt(index: number): Hash
  /** Seconds. */
  timestampAt(index: number): bigint
  worldAt(index: number): World
}

/** Least records that a run caches, because readers often visit neighbours. */
export const RECENT_RECORDS = 64

const NONE: readonly never[] = []

/** A block of a run. Its parts are made on read. */
export class RunRecord implements BlockRecord {
  readonly run: RunContents
  readonly index: number
  #block: Block | undefined
  #world: World | undefined

  constructor(run: RunContents, index: number) {
    this.run = run
    this.index = index
  }

  get block(): Block {
    this.#block ??= blockOf(this.run, this.index)
    return this.#block
  }

  get world(): World {
    this.#world ??= this.run.worldAt(this.index)
    return this.#world
  }

  get executed(): readonly never[] {
    return NONE
  }

  get totalDifficulty(): bigint {
    const { totalDifficulty, block } = this.run.template.parent
    return totalDifficulty + block.header.difficulty * BigInt(this.index + 1)
  }
}

export function parentHashAt(run: RunContents, index: number): Hash {
  return index === 0 ? run.template.parent.block.hash : run.hashAt(index - 1)
}

function blockOf(run: RunContents, index: number): Block {
  const { parent, abandoned } = run.template
  const { header: template, size } = parent.block
  const number = template.number + 1n + BigInt(index)
  const parentHash = parentHashAt(run, index)
  const timestamp = run.timestampAt(index)
  const header: Header = {
    ...template,
    parentHash,
    number,
    stateRoot: run.rootAt(index),
    timestamp,
    mixHash: derivedRandao(parentHash, number, abandoned),
    ...listFields(parent, { number, timestamp, parentHash }),
  }
  const parts = { header, transactions: NONE, uncles: NONE, withdrawals: NONE }
  // both are longer than 256 bytes
  const difference = sizeOfIntegers(header) - sizeOfIntegers(template)
  return { ...parts, hash: run.hashAt(index), size: size + difference }
}

/** From amsterdam on each block has its own list and slot. */
function listFields(
  { block, world }: Pick<BlockRecord, 'block' | 'world'>,
  next: Pick<Header, 'number' | 'timestamp' | 'parentHash'>,
): LaterFields {
  const { slotNumber, number } = block.header
  if (slotNumber === undefined) return {}
  const list = emptyAccessList(listedQueues(world, 'amsterdam'), next)
  return {
    blockAccessListHash: hashAccessList(list),
    slotNumber: slotNumber + next.number - number,
  }
}

function sizeOfIntegers({ number, timestamp, slotNumber = 0n }: Header): number {
  return integerSize(number) + integerSize(timestamp) + integerSize(slotNumber)
}
