// A block of the tree. Nobody reads most old blocks: they become bytes, and what is asked for is decoded again.
import type { Hash } from '../../../core/hex.ts'
import { getOrMake, LruCache } from '../../../core/lrucache.ts'
import type { MaybePromise } from '../../../core/promises.ts'
import { yielder } from '../../../core/yield.ts'
import type { Signers } from '../../../evm/executor.ts'
import type { Block } from '../../../protocol/blocks/block.ts'
import { type BloomTest, mayHave } from '../../../protocol/blocks/bloom.ts'
import { isImpersonated } from '../../../protocol/transactions/transaction.ts'
import type { World } from '../../../state/world.ts'
import {
  type BlockRecord,
  type ExecutedTransaction,
  type LoggedBlock,
  noWorldOf,
} from '../blockrecord.ts'
import {
  type BlockParts,
  hashOfPacked,
  loggedInPacked,
  logsBloomOfPacked,
  type PackedBlock,
  packBlock,
  unpackBlock,
} from './blockbytes.ts'
import { type WorldChanges, worldAfter, worldChanges } from './worldchanges.ts'

/**
 * Blocks up to the head that are as they were made, in a long chain. V8 collects what goes so soon with the young objects:
 * with more of them, sends make garbage among the old ones, which takes a mark of the whole heap to collect.
 */
export const FRESH_BLOCKS = 128

/** The same of blocks with more than `MANY` transactions, of which each takes some 2 kB. */
export const FRESH_FULL_BLOCKS = 64

/** A chain of so many has none that are bytes but full ones: to make them takes a tenth of a send. */
export const UNPACKED_BLOCKS = 4096

const MANY = 16

/** Of the blocks that are `behind` the head, or further, the world of every `step` stays: a kept one takes up to 14 MB. */
export const WORLD_STEPS = [
  { behind: 0, step: 16 },
  { behind: 1024, step: 2048 },
  { behind: 17_408, step: 32_768 },
] as const

/** Blocks whose changes are put into a world in one turn, if there are no more. */
const MOST_AT_ONCE = 1024

/** Blocks whose changes are put into a world at once. */
const PIECE = 512

interface Restored {
  readonly world: World
  readonly blocks: number
}

/** Packed blocks that stay decoded. */
export const DECODED_BLOCKS = 1024

const BY_TRANSACTIONS = { most: 4096, of: ({ executed }: LoggedBlock): number => executed.length }

const decoded = new LruCache<KeptRecord, BlockParts>(DECODED_BLOCKS, BY_TRANSACTIONS)

/** Of blocks of which nothing else was read. */
const decodedLogs = new LruCache<KeptRecord, LoggedBlock>(DECODED_BLOCKS, BY_TRANSACTIONS)

/** Worlds, and the blocks between them and the kept ones, as nodes of so many are made anew. */
const restored = new LruCache<KeptRecord, Restored>(64, {
  most: 32_768,
  of: ({ blocks }) => blocks,
})

/** Worlds of old blocks that are made now. */
const restoring = new Map<KeptRecord, Promise<void>>()

class Origin {}

type Recorded = Omit<BlockRecord, 'world'> & {
  /** Undefined if a dump lacks it. */
  readonly world: World | undefined
}

/** The same to all who read it, packed or not. */
export class KeptRecord implements BlockRecord {
  totalDifficulty: bigint
  readonly prevRandao: Hash | undefined
  readonly signers: Signers | undefined
  /** The same for a block whose world alone was edited. */
  readonly origin: Origin
  #parts: BlockParts | undefined
  #packed: PackedBlock | undefined
  /** Undefined for the first block, and for one that other rules may have made. */
  readonly parent: BlockRecord | undefined
  #world: World | undefined
  #changes: WorldChanges | undefined

  constructor(
    { block, executed, world, totalDifficulty, prevRandao, signers }: Recorded,
    parent?: BlockRecord,
    origin?: Origin,
  ) {
    this.totalDifficulty = totalDifficulty
    this.prevRandao = prevRandao
    this.signers = signers
    this.origin = origin ?? new Origin()
    this.parent = parent
    this.#parts = { block, executed }
    this.#world = world
  }

  get hash(): Hash {
    return this.#parts?.block.hash ?? hashOfPacked(this.#packed!)
  }

  get block(): Block {
    return KeptRecord.#whole(this).block
  }

  get executed(): readonly ExecutedTransaction[] {
    return KeptRecord.#whole(this).executed
  }

  get logsBloom(): Uint8Array {
    return this.#parts?.block.header.logsBloom ?? logsBloomOfPacked(this.#packed!)
  }

  mayHave(test: BloomTest): boolean {
    const parts = this.#parts
    return parts ? mayHave(test, parts.block.header.logsBloom) : this.#packed!.mayHave(test)
  }

  get world(): World {
    return this.#world ?? KeptRecord.#restored(this)
  }

  get isStateless(): boolean {
    return KeptRecord.#isStateless(this)
  }

  get hasMany(): boolean {
    return this.#parts !== undefined && this.#parts.executed.length > MANY
  }

  withWorld(world: World): KeptRecord {
    const { block, executed, totalDifficulty, prevRandao, signers } = this
    return new KeptRecord(
      { block, executed, world, totalDifficulty, prevRandao, signers },
      this.parent,
      this.origin,
    )
  }

  /** Goes on as bytes but for the world. */
  pack(parent: BlockRecord | undefined): void {
    if (this.#parts === undefined || !this.canPack(this.#parts)) return
    const near = parent instanceof KeptRecord ? parent.#packed?.template : undefined
    // one object for all blocks without difficulty
    if (parent?.totalDifficulty === this.totalDifficulty)
      this.totalDifficulty = parent.totalDifficulty
    this.#packed = packBlock(this.#parts, near)
    this.#parts = undefined
  }

  protected canPack(_parts: BlockParts): boolean {
    return true
  }

  /** To the world of the parent; undefined if that is not known, or has parts elsewhere. */
  get changes(): WorldChanges | undefined {
    const { parent } = this
    if (parent === undefined || parent.isStateless === true) return undefined
    this.#changes ??= worldChanges(parent.world, this.world)
    return this.#changes
  }

  /** Goes on as changes to the parent's world, which in turn may go. */
  packWorld(number: number, behind: number): void {
    const { changes, parent } = this
    if (changes === undefined || !(parent instanceof KeptRecord)) return
    parent.thin(number - 1, WORLD_STEPS.findLast((each) => behind >= each.behind)!.step)
  }

  /** Forgets the world unless it is one of those that stay. It is made again from an older one, some 15 µs a block. */
  thin(number: number, step: number): void {
    if (number % step !== 0 && this.#changes !== undefined) this.#world = undefined
  }

  // private methods of objects would take 56 bytes of each

  /** @param isKept false in a search through more than `DECODED_BLOCKS`, which would push out each before it is read again */
  static logged(record: BlockRecord, isKept: boolean): LoggedBlock {
    if (!(record instanceof KeptRecord)) return record
    const known = record.#parts ?? decoded.get(record) ?? decodedLogs.get(record)
    if (known !== undefined) return known
    const logged = loggedInPacked(record.#packed!)
    if (isKept) decodedLogs.set(record, logged)
    return logged
  }

  /** For a reader of all blocks: kept, each would push out another. */
  static partsOf(record: BlockRecord): BlockParts {
    if (!(record instanceof KeptRecord)) return record
    return record.#parts ?? decoded.get(record) ?? unpackBlock(record.#packed!)
  }

  static #isStateless(record: KeptRecord): boolean {
    return record.#world === undefined && record.#changes === undefined
  }

  static #whole(record: KeptRecord): BlockParts {
    return record.#parts ?? getOrMake(decoded, record, () => unpackBlock(record.#packed!))
  }

  static #restored(record: KeptRecord): World {
    const known = restored.get(record)
    if (known !== undefined) return known.world
    if (KeptRecord.#isStateless(record)) throw noWorldOf(record.block)
    const { base, after } = KeptRecord.#wayTo(record)
    const changes = after.map((each) => each.#changes!)
    const world = worldAfter(base, changes)
    restored.set(record, { world, blocks: changes.length })
    return world
  }

  static #worldThere(record: BlockRecord): World | undefined {
    if (!(record instanceof KeptRecord)) return record.world
    return record.#world ?? restored.get(record)?.world
  }

  /** The nearest world before the record's that is there, and the records after it, newest first. */
  static #wayTo(record: KeptRecord): { base: World; after: KeptRecord[] } {
    const after = [record]
    for (;;) {
      const parent = after.at(-1)!.parent!
      const base = KeptRecord.#worldThere(parent)
      if (base !== undefined) return { base, after }
      after.push(parent as KeptRecord)
    }
  }

  /** Undefined if its world is there, or made in less than a turn. */
  static restore(record: BlockRecord): Promise<void> | undefined {
    if (!(record instanceof KeptRecord) || record.#changes === undefined) return undefined
    if (KeptRecord.#worldThere(record) !== undefined) return undefined
    const underway = restoring.get(record)
    if (underway !== undefined) return underway
    const { base, after } = KeptRecord.#wayTo(record)
    if (after.length <= MOST_AT_ONCE) return undefined
    const made = KeptRecord.#restoreAfter(base, after).finally(() => restoring.delete(record))
    restoring.set(record, made)
    return made
  }

  /** The world of a head stays. Undefined if it is there now, else when it is: that of an old block is made in turns. */
  static hold(head: BlockRecord): Promise<void> | undefined {
    if (!(head instanceof KeptRecord) || head.#changes === undefined) return undefined
    if (head.#world !== undefined) return undefined
    const keep = (): void => {
      head.#world = KeptRecord.#restored(head)
    }
    return KeptRecord.restore(head)?.then(keep) ?? void keep()
  }

  /**
   * What the newest change up to a block gives, or else the nearest world that is there. None is made. Undefined if so many
   * blocks have neither.
   */
  static newest<T>(
    record: BlockRecord,
    inChanges: (changes: WorldChanges) => T | undefined,
    inWorld: (world: World) => T,
    blocks: number,
  ): T | undefined {
    let at = record
    for (let left = blocks; left > 0; left--) {
      const world = KeptRecord.#worldThere(at)
      if (world !== undefined) return inWorld(world)
      const older = at as KeptRecord
      const changes = older.#changes
      if (changes === undefined) throw noWorldOf(at.block)
      const found = inChanges(changes)
      if (found !== undefined) return found
      at = older.parent!
    }
    return undefined
  }

  /** The parent's world too, which re-executing the block starts from. */
  static async #restoreAfter(base: World, after: readonly KeptRecord[]): Promise<void> {
    const [record, parent] = after as readonly [KeptRecord, KeptRecord]
    const yieldIfDue = yielder()
    let world = base
    for (let end = after.length; end > 1; end -= PIECE) {
      const piece = after.slice(Math.max(1, end - PIECE), end)
      world = worldAfter(
        world,
        piece.map((each) => each.#changes!),
      )
      await yieldIfDue()
    }
    restored.set(parent, { world, blocks: after.length })
    restored.set(record, { world: worldAfter(world, [record.#changes!]), blocks: 1 })
  }
}

/** A block of a dump. Other rules may have made it, so its world is not made from changes. */
export class LoadedRecord extends KeptRecord {
  get isLoaded(): boolean {
    return true
  }

  /** An impersonated transaction has another hash than its bytes. */
  protected override canPack({ block }: BlockParts): boolean {
    return !block.transactions.some(isImpersonated)
  }
}

/** The record, when its world can be read at once: that of an old block is made in turns. */
export function withWorldReady(record: BlockRecord): MaybePromise<BlockRecord> {
  return KeptRecord.restore(record)?.then(() => record) ?? record
}

/** Blocks of a fork's network stay as they are: other rules may have made them. */
export function kept(record: BlockRecord, parent?: BlockRecord): BlockRecord {
  const { isLoaded, isStateless } = record
  if (record instanceof KeptRecord || isLoaded === true || isStateless === true) return record
  return new KeptRecord(record, parent)
}

/** Of a chain's own blocks, how many from the first on are bytes: two more for each block, until `FRESH_BLOCKS` are left. */
export function packedOf(blocks: number): number {
  return Math.max(0, Math.min(blocks - FRESH_BLOCKS, 2 * (blocks - UNPACKED_BLOCKS)))
}

export function hashOf(record: BlockRecord): Hash {
  return record instanceof KeptRecord ? record.hash : record.block.hash
}

export function recordMayHave(record: BlockRecord, test: BloomTest): boolean {
  return record instanceof KeptRecord
    ? record.mayHave(test)
    : mayHave(test, record.block.header.logsBloom)
}

/** To be read at once. */
export function logsBloomOf(record: BlockRecord): Uint8Array {
  return record instanceof KeptRecord ? record.logsBloom : record.block.header.logsBloom
}

/** Two records of one block, of which one may have an edited world. Blocks that happen to be alike are others. */
export function isOneBlock(one: BlockRecord | undefined, other: BlockRecord | undefined): boolean {
  if (one === other || one === undefined || other === undefined) return one === other
  if (one instanceof KeptRecord && other instanceof KeptRecord) return one.origin === other.origin
  const isEither = one instanceof KeptRecord || other instanceof KeptRecord
  return isEither ? hashOf(one) === hashOf(other) : one.block === other.block
}
