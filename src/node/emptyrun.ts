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
import { encodeBlock, type Header } from '../protocol/block.ts'
import { Memory } from '../state/keys.ts'
import { stateRoot, type World } from '../state/world.ts'
import type { BlockRecord } from './blockrecord.ts'
import { derivedRandao } from './randao.ts'

/** Blocks of a run, counted from 0. What is read of one block twice need not be the same object. */
export interface EmptyRun {
  readonly count: number
  hashAt(index: number): Hash
  /** Which block has a hash; undefined when none has. */
  indexOf(hash: Hash): number | undefined
  recordAt(index: number): BlockRecord
}

/** What the blocks of a run have in common. */
export interface RunPlan {
  /** The block before the first one, empty itself, whose header is theirs but for what follows from number and time. */
  readonly parent: BlockRecord
  readonly count: number
  readonly timestampAt: (index: number) => bigint
  /** Blocks that had left the chain before (`BlockTree.abandoned`). */
  readonly abandoned: number
}

/** Records that a run remembers at least, for who reads around a place. */
const RECORDS = 64

const NONE: readonly never[] = []

/** A run whose hashes are those of its headers. */
export class SealedRun implements EmptyRun {
  readonly count: number
  readonly #plan: RunPlan
  readonly #hashes: Uint8Array
  readonly #roots: Uint8Array
  readonly #worldAt: (index: number) => World
  readonly #records: Memory<number, BlockRecord>
  /** Open addressing by the first four bytes of a hash: indexes counted from 1, 0 for nothing. Made when asked for. */
  #table: Uint32Array | undefined

  /** @param hashes and `roots`: 32 bytes a block */
  constructor(
    plan: RunPlan,
    hashes: Uint8Array,
    roots: Uint8Array,
    worldAt: (index: number) => World,
  ) {
    this.count = plan.count
    this.#plan = plan
    this.#hashes = hashes
    this.#roots = roots
    this.#worldAt = worldAt
    this.#records = new Memory(RECORDS, (index) => this.#make(index))
  }

  hashAt(index: number): Hash {
    return hashFromBytes(wordAt(this.#hashes, index))
  }

  indexOf(hash: Hash): number | undefined {
    this.#table ??= tableOf(this.#hashes)
    const wanted = bytesFromHex(hash)
    const mask = this.#table.length - 1
    for (let at = prefixAt(wanted, 0) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at]!
      if (entry === 0) return undefined
      if (equalBytes(wordAt(this.#hashes, entry - 1), wanted)) return entry - 1
    }
  }

  recordAt(index: number): BlockRecord {
    return this.#records.of(index)
  }

  #make(index: number): BlockRecord {
    const parentHash = index === 0 ? this.#plan.parent.block.hash : this.hashAt(index - 1)
    const root = hashFromBytes(wordAt(this.#roots, index))
    const worldAt = this.#worldAt
    return recordOf(this.#plan, index, { hash: this.hashAt(index), parentHash, root }, () =>
      worldAt(index),
    )
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
    return recordOf(this.#plan, index, links, () => world)
  }
}

interface Links {
  readonly hash: Hash
  readonly parentHash: Hash
  /** Of the state. */
  readonly root: Hash
}

function recordOf(
  { parent, timestampAt, abandoned }: RunPlan,
  index: number,
  { hash, parentHash, root }: Links,
  world: () => World,
): BlockRecord {
  const template = parent.block.header
  const number = template.number + 1n + BigInt(index)
  const header: Header = {
    ...template,
    parentHash,
    number,
    stateRoot: root,
    timestamp: timestampAt(index),
    mixHash: derivedRandao(parentHash, number, abandoned),
  }
  const parts = { header, transactions: NONE, uncles: NONE, withdrawals: NONE }
  return {
    block: { ...parts, hash, size: encodeBlock(parts).length },
    executed: NONE,
    totalDifficulty: parent.totalDifficulty + template.difficulty * BigInt(index + 1),
    // most who read a block don't ask for its accounts
    get world() {
      return world()
    },
  }
}

function tableOf(hashes: Uint8Array): Uint32Array {
  const count = hashes.length / 32
  const table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 1)))
  const mask = table.length - 1
  for (let index = 0; index < count; index++) {
    let at = prefixAt(hashes, 32 * index) & mask
    while (table[at] !== 0) at = (at + 1) & mask
    table[at] = index + 1
  }
  return table
}

function prefixAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

function wordAt(words: Uint8Array, index: number): Uint8Array {
  return words.subarray(32 * index, 32 * index + 32)
}
