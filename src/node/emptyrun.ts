// Empty blocks in a row, kept in as little as 64 bytes each: a block is made when it is read.
import { hashBytes, keccak256 } from '../core/crypto.ts'
import {
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  equalBytes,
  type Hash,
  hashFromBytes,
  paddedBytes,
} from '../core/hex.ts'
import { integerSize } from '../core/rlp.ts'
import type { Header } from '../protocol/block.ts'
import { Memory } from '../state/keys.ts'
import { type RingBlocks, RingWorlds } from '../state/ringworlds.ts'
import { stateRoot, type World } from '../state/world.ts'
import type { BlockRecord } from './blockrecord.ts'
import { derivedRandao } from './randao.ts'
import { RunLog } from './runlog.ts'

/** Blocks of a run, counted from 0. What is read of one block twice need not be the same object. */
export interface EmptyRun {
  readonly count: number
  hashAt(index: number): Hash
  /** Which block has a hash; undefined when none has. */
  indexOf(hash: Hash): number | undefined
  recordAt(index: number): BlockRecord
}

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

/** Empty blocks after `parent`, each sealed, to which more come. Those that are there stay as they are. */
export class EmptyRow {
  /** The block before the first one, as in a plan. */
  readonly parent: BlockRecord
  readonly log: RunLog = new RunLog()
  readonly #template: Template
  readonly #worlds: RingWorlds

  constructor(template: Template, rings: Pick<RingBlocks, 'tellsTime' | 'tellsHash' | 'onMade'>) {
    const { parent } = template
    const first = parent.block.header.number + 1n
    this.parent = parent
    this.#template = template
    this.#worlds = new RingWorlds(parent.world, {
      ...rings,
      numberAt: (index) => first + BigInt(index),
      timestampAt: (index) => this.log.timestampAt(index),
      parentHashAt: (index) => this.#hashBefore(index),
    })
  }

  hashAt(index: number): Hash {
    return hashFromBytes(this.log.hashAt(index))
  }

  /** @param mixHash where it is known already */
  recordAt(index: number, mixHash?: Hash): BlockRecord {
    const links = {
      hash: this.hashAt(index),
      parentHash: this.#hashBefore(index),
      root: hashFromBytes(this.log.rootAt(index)),
      mixHash,
    }
    const timestamp = this.log.timestampAt(index)
    return recordOf(this.#template, index, timestamp, links, () => this.#worlds.at(index))
  }

  #hashBefore(index: number): Hash {
    return index === 0 ? this.parent.block.hash : this.hashAt(index - 1)
  }
}

/** A run whose hashes are those of its headers: a part of a row. */
export class SealedRun implements EmptyRun {
  readonly count: number
  readonly #row: EmptyRow
  readonly #start: number
  readonly #records: Memory<number, BlockRecord>
  /** Open addressing by the first four bytes of a hash: indexes counted from 1, 0 for nothing. Made when asked for. */
  #table: Uint32Array | undefined

  constructor(row: EmptyRow, start: number, count: number) {
    this.count = count
    this.#row = row
    this.#start = start
    this.#records = new Memory(RECORDS, (index) => row.recordAt(start + index))
  }

  hashAt(index: number): Hash {
    return this.#row.hashAt(this.#start + index)
  }

  indexOf(hash: Hash): number | undefined {
    this.#table ??= this.#makeTable()
    const wanted = bytesFromHex(hash)
    const mask = this.#table.length - 1
    for (let at = prefixOf(wanted) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at]!
      if (entry === 0) return undefined
      if (equalBytes(this.#row.log.hashAt(this.#start + entry - 1), wanted)) return entry - 1
    }
  }

  recordAt(index: number): BlockRecord {
    return this.#records.of(index)
  }

  #makeTable(): Uint32Array {
    const table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.count + 1)))
    const mask = table.length - 1
    for (let index = 0; index < this.count; index++) {
      let at = prefixOf(this.#row.log.hashAt(this.#start + index)) & mask
      while (table[at] !== 0) at = (at + 1) & mask
      table[at] = index + 1
    }
    return table
  }
}

/**
 * A run of more blocks than anybody could hash. Numbers, timestamps, parent links and state roots hold, but a block's
 * hash is derived from the run's seed and the block's number, and is not that of its header. System contracts are told
 * nothing inside: the world is the parent's.
 */
export class LongRun implements EmptyRun {
  readonly count: number
  readonly #plan: RunPlan
  readonly #first: bigint
  readonly #seed: Uint8Array
  readonly #root: Hash
  readonly #records: Memory<number, BlockRecord>

  constructor(plan: RunPlan) {
    const { hash, header } = plan.parent.block
    this.count = plan.count
    this.#plan = plan
    this.#first = header.number + 1n
    this.#seed = keccak256(concatBytes(hashBytes(hash), paddedBytes(BigInt(plan.count), 32)))
    this.#root = stateRoot(plan.parent.world)
    this.#records = new Memory(RECORDS, (index) => this.#make(index))
  }

  /** 24 bytes of a hash of seed and number, then the number under a mask, so that it can be found again. */
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
    return this.#records.of(index)
  }

  #make(index: number): BlockRecord {
    const parentHash = index === 0 ? this.#plan.parent.block.hash : this.hashAt(index - 1)
    const { world } = this.#plan.parent
    const links = { hash: this.hashAt(index), parentHash, root: this.#root }
    return recordOf(this.#plan, index, this.#plan.timestampAt(index), links, () => world)
  }
}

interface Links {
  readonly hash: Hash
  readonly parentHash: Hash
  /** Of the state. */
  readonly root: Hash
  /** Undefined: it is made. */
  readonly mixHash?: Hash | undefined
}

/** The block that is `index + 1` blocks after the template's. */
function recordOf(
  { parent, abandoned }: Template,
  index: number,
  timestamp: bigint,
  { hash, parentHash, root, mixHash }: Links,
  makeWorld: () => World,
): BlockRecord {
  const template = parent.block.header
  const number = template.number + 1n + BigInt(index)
  const header: Header = {
    ...template,
    parentHash,
    number,
    stateRoot: root,
    timestamp,
    mixHash: mixHash ?? derivedRandao(parentHash, number, abandoned),
  }
  let world: World | undefined
  return {
    block: {
      header,
      hash,
      transactions: NONE,
      uncles: NONE,
      withdrawals: NONE,
      size: parent.block.size + sizeAhead(header, template),
    },
    executed: NONE,
    totalDifficulty: parent.totalDifficulty + template.difficulty * BigInt(index + 1),
    // most who read a block don't ask for its accounts
    get world() {
      world ??= makeWorld()
      return world
    },
  }
}

/** Bytes that a block has more than another that differs in number and timestamp. Both are of more than 256 bytes. */
function sizeAhead(header: Header, other: Header): number {
  const own = integerSize(header.number) + integerSize(header.timestamp)
  return own - integerSize(other.number) - integerSize(other.timestamp)
}

function prefixOf(hash: Uint8Array): number {
  return (hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!
}
