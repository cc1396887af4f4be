// Empty blocks in a row, kept in as little as 72 bytes each: a block is made when it is read.

import { hashBytes, keccak256 } from '../../core/crypto.ts'
import {
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  equalBytes,
  type Hash,
  hashFromBytes,
  paddedBytes,
} from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import { integerSize } from '../../core/rlp.ts'
import type { Block, Header } from '../../protocol/block.ts'
import { stateRoot, type World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { BlockRun } from '../ledger/blockrun.ts'
import { derivedRandao } from '../mining/randao.ts'
import { type RingBlocks, RingWorlds } from './ringworlds.ts'
import { RunLog } from './runlog.ts'

/** What empty blocks in a row have in common. */
export interface Template {
  /** The block before the first one, empty itself, whose header is theirs but for what follows from number and time. */
  readonly parent: BlockRecord
  /** Blocks that had left the chain before (`BlockTree.abandoned`). */
  readonly abandoned: number
}

/** Blocks that are to be mined. */
export interface RunPlan extends Template {
  readonly count: number
  readonly timestampAt: (index: number) => bigint
}

/** Records that a run remembers at least, for who reads around a place. */
const RECORDS = 64

const NONE: readonly never[] = []

/** Empty blocks after a template's parent, counted from 0, of which records are made. */
interface EmptyBlocks {
  readonly template: Template
  hashAt(index: number): Hash
  /** Of the state. */
  rootAt(index: number): Hash
  /** Seconds. */
  timestampAt(index: number): bigint
  worldAt(index: number): World
}

/** A run whose hashes are those of its headers, to which more blocks come. Those that are there stay as they are. */
export class EmptyRow implements BlockRun, EmptyBlocks {
  readonly template: Template
  readonly log: RunLog = new RunLog()
  readonly #worlds: RingWorlds
  readonly #records = memoize(RECORDS, (index: number) => this.newRecord(index))
  /** Open addressing by the first four bytes of a hash: indexes counted from 1, 0 for nothing. */
  #table = new Uint32Array(0)
  /** Blocks in the table: they come to it when somebody looks for one. */
  #known = 0

  constructor(template: Template, rings: Pick<RingBlocks, 'tellsTime' | 'tellsHash' | 'onMade'>) {
    const { parent } = template
    const first = parent.block.header.number + 1n
    this.template = template
    this.#worlds = new RingWorlds(parent.world, {
      ...rings,
      numberAt: (index) => first + BigInt(index),
      timestampAt: (index) => this.log.timestampAt(index),
      parentHashAt: (index) => hashBefore(this, index),
    })
  }

  get count(): number {
    return this.log.length
  }

  hashAt(index: number): Hash {
    return hashFromBytes(this.log.hashAt(index))
  }

  hashBytesAt(index: number): Uint8Array {
    return this.log.hashAt(index)
  }

  indexOf(hash: Hash): number | undefined {
    this.#fillTable()
    const wanted = bytesFromHex(hash)
    const mask = this.#table.length - 1
    for (let at = prefixOf(wanted) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at]!
      if (entry === 0) return undefined
      if (equalBytes(this.log.hashAt(entry - 1), wanted)) return entry - 1
    }
  }

  rootAt(index: number): Hash {
    return hashFromBytes(this.log.rootAt(index))
  }

  timestampAt(index: number): bigint {
    return this.log.timestampAt(index)
  }

  worldAt(index: number): World {
    return this.#worlds.at(index)
  }

  recordAt(index: number): BlockRecord {
    return this.#records(index)
  }

  /** As `recordAt`, but not remembered: for who keeps it. */
  newRecord(index: number): BlockRecord {
    return new EmptyRecord(this, index)
  }

  #fillTable(): void {
    const { length } = this.log
    if (2 * length >= this.#table.length) {
      this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * length + 1)))
      this.#known = 0
    }
    const mask = this.#table.length - 1
    for (; this.#known < length; this.#known++) {
      let at = prefixOf(this.log.hashAt(this.#known)) & mask
      while (this.#table[at] !== 0) at = (at + 1) & mask
      this.#table[at] = this.#known + 1
    }
  }
}

/**
 * A run of more blocks than anybody could hash. Numbers, timestamps, parent links and state roots hold, but a block's
 * hash is derived from the run's seed and the block's number, and is not that of its header. System contracts are told
 * nothing inside: the world is the parent's.
 */
export class LongRun implements BlockRun, EmptyBlocks {
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
    this.#records = memoize(RECORDS, (index) => new EmptyRecord(this, index))
  }

  /** 24 bytes of a hash of seed and number, then the number under a mask, so that it can be found again. */
  hashBytesAt(index: number): Uint8Array {
    const number = paddedBytes(this.#first + BigInt(index), 8)
    const start = keccak256(concatBytes(this.#seed, number)).subarray(0, 24)
    const masked = number.map((byte, at) => byte ^ this.#seed[at]!)
    return concatBytes(start, masked)
  }

  hashAt(index: number): Hash {
    return hashFromBytes(this.hashBytesAt(index))
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
    return this.template.timestampAt(index)
  }

  worldAt(): World {
    return this.template.parent.world
  }
}

/** A block whose parts are made when they are asked for: a chain keeps thousands that nobody ever looks at. */
class EmptyRecord implements BlockRecord {
  readonly #blocks: EmptyBlocks
  readonly #index: number
  #block: Block | undefined
  #world: World | undefined

  constructor(blocks: EmptyBlocks, index: number) {
    this.#blocks = blocks
    this.#index = index
  }

  get block(): Block {
    this.#block ??= blockOf(this.#blocks, this.#index)
    return this.#block
  }

  get world(): World {
    this.#world ??= this.#blocks.worldAt(this.#index)
    return this.#world
  }

  get executed(): readonly never[] {
    return NONE
  }

  get totalDifficulty(): bigint {
    const { totalDifficulty, block } = this.#blocks.template.parent
    return totalDifficulty + block.header.difficulty * BigInt(this.#index + 1)
  }
}

function blockOf(blocks: EmptyBlocks, index: number): Block {
  const { parent, abandoned } = blocks.template
  const { header: template, size } = parent.block
  const number = template.number + 1n + BigInt(index)
  const parentHash = hashBefore(blocks, index)
  const header: Header = {
    ...template,
    parentHash,
    number,
    stateRoot: blocks.rootAt(index),
    timestamp: blocks.timestampAt(index),
    mixHash: derivedRandao(parentHash, number, abandoned),
  }
  const parts = { header, transactions: NONE, uncles: NONE, withdrawals: NONE }
  return { ...parts, hash: blocks.hashAt(index), size: size + sizeAhead(header, template) }
}

function hashBefore(blocks: EmptyBlocks, index: number): Hash {
  return index === 0 ? blocks.template.parent.block.hash : blocks.hashAt(index - 1)
}

/** Bytes that a block has more than another that differs in number and timestamp. Both are of more than 256 bytes. */
function sizeAhead(header: Header, other: Header): number {
  const own = integerSize(header.number) + integerSize(header.timestamp)
  return own - integerSize(other.number) - integerSize(other.timestamp)
}

function prefixOf(hash: Uint8Array): number {
  return (hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!
}
