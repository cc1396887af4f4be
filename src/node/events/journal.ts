// What happened on a chain, kept once for all who have yet to read it.
import { bytesFromHex, type Hash, hashFromBytes } from '../../core/hex.ts'
import type { BlockRange } from '../ledger/canonicalchain.ts'
import type { BlockLogs } from './changes.ts'

/** Entries in a row, from position `start` to before `end`; both only grow. */
interface Shelf<Entry> {
  readonly start: number
  readonly end: number
  /** Entries from `from` on that stay what they are, whatever happens to the shelf. */
  readonly from: (from: number) => Iterable<Entry>
  /** Forgets those before a position. */
  readonly drop: (before: number) => void
}

/** The readers of a shelf: an entry is kept until all of them have read it, or it has to make room. */
export class Readers<Entry> {
  readonly #shelf: Shelf<Entry>
  /** What each reads next: the least comes first, as a reader goes to the end. */
  readonly #next = new Map<bigint, number>()

  constructor(shelf: Shelf<Entry>) {
    this.#shelf = shelf
  }

  get size(): number {
    return this.#next.size
  }

  /** A reader of what comes from now on. */
  add(reader: bigint): void {
    this.#next.set(reader, this.#shelf.end)
  }

  delete(reader: bigint): void {
    this.#next.delete(reader)
    this.#tidy()
  }

  /** All that came since this reader read; undefined when some of it is forgotten. Either way it reads on from here. */
  read(reader: bigint): Iterable<Entry> | undefined {
    const shelf = this.#shelf
    const from = this.#next.get(reader) ?? shelf.end
    const entries = from < shelf.start ? undefined : shelf.from(from)
    this.#next.delete(reader)
    this.add(reader)
    this.#tidy()
    return entries
  }

  #tidy(): void {
    const [least = this.#shelf.end] = this.#next.values()
    this.#shelf.drop(least)
  }
}

const WORD = 32

const CHUNK = 1_024

/** The last hashes that were put in, 32 bytes each. */
export class HashShelf implements Shelf<Hash> {
  readonly #bound: number
  /** The last one may have room left. What was put in is not written over. */
  readonly #chunks: Uint8Array[] = []
  /** The position of the first hash of the first chunk. */
  #first = 0
  #start = 0
  #end = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  get start(): number {
    return this.#start
  }

  get end(): number {
    return this.#end
  }

  push(hash: Hash): void {
    this.#put(bytesFromHex(hash))
    this.#limit()
  }

  /** Puts the hashes of blocks in: of more than are kept, none. */
  pushBlocks(blocks: BlockRange): void {
    const { length } = blocks
    if (length > this.#bound) {
      this.#end += length
      this.drop(this.#end)
      return
    }
    for (let index = 0; index < length; index++) this.#put(blocks.hashBytesAt(index))
    this.#limit()
  }

  drop(before: number): void {
    this.#start = Math.max(this.#start, before)
    const surplus = Math.floor((this.#start - this.#first) / CHUNK)
    if (surplus > 0) {
      this.#chunks.splice(0, surplus)
      this.#first += surplus * CHUNK
    }
  }

  from(from: number): Iterable<Hash> {
    const skipped = Math.floor((from - this.#first) / CHUNK)
    const chunks = this.#chunks.slice(skipped)
    return hashesIn(chunks, from - this.#first - skipped * CHUNK, this.#end - from)
  }

  #limit(): void {
    this.drop(this.#end - this.#bound)
  }

  #put(bytes: Uint8Array): void {
    const at = this.#end - this.#first
    const index = Math.floor(at / CHUNK)
    if (index >= this.#chunks.length) this.#chunks.push(new Uint8Array(WORD * CHUNK))
    this.#chunks[index]!.set(bytes, WORD * (at % CHUNK))
    this.#end += 1
  }
}

function* hashesIn(
  chunks: readonly Uint8Array[],
  first: number,
  count: number,
): IterableIterator<Hash> {
  for (let at = first; at < first + count; at++) {
    const place = WORD * (at % CHUNK)
    yield hashFromBytes(chunks[Math.floor(at / CHUNK)]!.subarray(place, place + WORD))
  }
}

/** The last blocks whose logs came or went. */
export class LogShelf implements Shelf<BlockLogs> {
  readonly #bounds: LogBounds
  /** Those that are forgotten stay in front for a while: to move the others each time would take long. */
  #blocks: BlockLogs[] = []
  #first = 0
  #start = 0
  #removedLogs = 0

  constructor(bounds: LogBounds) {
    this.#bounds = bounds
  }

  get start(): number {
    return this.#start
  }

  get end(): number {
    return this.#first + this.#blocks.length
  }

  push(block: BlockLogs): void {
    this.#blocks.push(block)
    this.#removedLogs += removedLogsOf(block)
    const { blocks, removedLogs } = this.#bounds
    while (this.end - this.#start > blocks || this.#removedLogs > removedLogs) {
      this.drop(this.#start + 1)
    }
  }

  drop(before: number): void {
    for (; this.#start < before; this.#start++) {
      this.#removedLogs -= removedLogsOf(this.#blocks[this.#start - this.#first]!)
    }
    const surplus = this.#start - this.#first
    if (2 * surplus < this.#blocks.length) return
    this.#blocks = this.#blocks.slice(surplus)
    this.#first = this.#start
  }

  from(from: number): Iterable<BlockLogs> {
    return this.#blocks.slice(from - this.#first)
  }
}

export interface LogBounds {
  readonly blocks: number
  /** Logs of abandoned blocks, which nothing else may keep any more. */
  readonly removedLogs: number
}

function removedLogsOf({ removed, count }: BlockLogs): number {
  return removed ? count : 0
}
