// The canonical chain: blocks by number, with runs of empty blocks kept as one.
import type { Hash } from '../../core/hex.ts'
import { emptyList, type PersistentList } from '../../core/persistent.ts'
import type { BlockRecord, BlockRun } from './blockrecord.ts'
import { hashOf, isOneBlock } from './packing/keptrecord.ts'

/** `at` and iterating make the blocks of a run; avoid them if possible. */
export interface BlockRange extends Iterable<BlockRecord> {
  readonly length: number
  at(index: number): BlockRecord | undefined
  /** Without making the block; `index` is from 0 to below `length`. */
  hashAt(index: number): Hash
  filled(): IterableIterator<BlockRecord>
  segments(): IterableIterator<Segment>
}

/** A block or a run: the last block, and the number of the first. */
interface Segment {
  readonly first: bigint
  readonly record: BlockRecord
}

/** Blocks `start` to `end` of a run, which may have more. The last is a single block too, as the newest must be. */
export interface Span {
  readonly run: BlockRun
  readonly start: number
  readonly end: number
  /** Blocks before it that are in no run. */
  readonly single: number
}

export interface Blocks {
  readonly single: PersistentList<BlockRecord>
  readonly spans: PersistentList<Span>
}

export interface Tail {
  readonly run: BlockRun
  readonly start: number
  readonly head: BlockRecord
}

/** An immutable list of blocks from number 0. Its newest block is in no run. */
export class CanonicalChain {
  readonly length: number
  readonly older: Blocks
  /** Kept apart and merged on read, so that a run grows by a block in constant time. */
  readonly tail: Tail | undefined
  #blocks: Blocks | undefined

  constructor(length: number, older: Blocks, tail?: Tail) {
    this.length = length
    this.older = older
    this.tail = tail
  }

  static empty(): CanonicalChain {
    return new CanonicalChain(0, { single: emptyList(), spans: emptyList() })
  }

  get head(): BlockRecord | undefined {
    if (this.tail !== undefined) return this.tail.head
    const { single } = this.older
    return single.at(single.length - 1)
  }

  at(number: number): BlockRecord | undefined {
    if (number >= this.length) return undefined
    const span = this.#spanBefore(number)
    if (span === undefined) return this.#single.at(number)
    if (number < span.end) return span.run.recordAt(number - span.start)
    return this.#single.at(span.single + number - span.end)
  }

  /** Undefined for a block of a run. */
  singleAt(number: number): BlockRecord | undefined {
    const span = this.#spanBefore(number)
    return span !== undefined && number < span.end ? undefined : this.at(number)
  }

  hashAt(number: number): Hash | undefined {
    const span = this.#spanBefore(number)
    if (span !== undefined && number < span.end) return span.run.hashAt(number - span.start)
    const record = this.at(number)
    return record && hashOf(record)
  }

  findInRuns(hash: Hash): BlockRecord | undefined {
    for (let at = this.#spans.length - 1; at >= 0; at--) {
      const { run, start, end } = this.#spans.at(at)!
      const index = run.indexOf(hash)
      if (index !== undefined && index <= end - start) return this.at(start + index)
    }
    return undefined
  }

  push(record: BlockRecord): CanonicalChain {
    return new CanonicalChain(this.length + 1, {
      single: this.#single.push(record),
      spans: this.#spans,
    })
  }

  withHead(head: BlockRecord): CanonicalChain {
    const single = this.#single.truncate(this.#single.length - 1).push(head)
    return new CanonicalChain(this.length, { single, spans: this.#spans })
  }

  /** Appends a run up to `head`, its last block. A run at the chain's end may have grown meanwhile. */
  pushRun(run: BlockRun, head: BlockRecord): CanonicalChain {
    const tail = this.tail
    return tail?.run === run
      ? new CanonicalChain(tail.start + run.count, this.older, { run, start: tail.start, head })
      : new CanonicalChain(this.length + run.count, this.#filed(), {
          run,
          start: this.length,
          head,
        })
  }

  /** The last block left becomes a single one if it was in a run. */
  truncate(length: number): CanonicalChain {
    if (length >= this.length) return this
    if (length <= 0) return CanonicalChain.empty()
    const single = this.#single
    const span = this.#spanBefore(length - 1)
    if (span === undefined) {
      return new CanonicalChain(length, { single: single.truncate(length), spans: emptyList() })
    }
    const spans = this.#spans.truncate(this.#indexBefore(length - 1) + 1)
    if (length > span.end) {
      return new CanonicalChain(length, {
        single: single.truncate(span.single + length - span.end),
        spans,
      })
    }
    const head = span.run.recordAt(length - 1 - span.start)
    return new CanonicalChain(length, {
      single: single.truncate(span.single).push(head),
      spans: spans.truncate(spans.length - 1).push({ ...span, end: length - 1 }),
    })
  }

  *values(from = 0, to: number = this.length): IterableIterator<BlockRecord> {
    for (let number = Math.max(0, from); number < to; number++) yield this.at(number)!
  }

  *filled(from = 0, to: number = this.length): IterableIterator<BlockRecord> {
    for (const piece of this.search(from, to, () => true)) yield* piece
  }

  /** As `filled` by pieces of the list, cut to the range; of one that is unwanted nothing. */
  *search(
    from: number,
    to: number,
    isWanted: (piece: readonly BlockRecord[]) => boolean,
  ): IterableIterator<readonly BlockRecord[]> {
    const end = Math.min(to, this.length)
    let number = Math.max(0, from)
    while (number < end) {
      const index = this.#indexBefore(number)
      const span = index < 0 ? undefined : this.#spans.at(index)
      if (span !== undefined) number = Math.max(number, span.end)
      const next = Math.min(end, this.#spans.at(index + 1)?.start ?? end)
      // between runs, numbers increase like the single blocks
      const shift = span === undefined ? 0 : span.end - span.single
      for (const { start, items } of this.#single.pieces(number - shift, next - shift)) {
        const first = Math.max(0, number - shift - start)
        yield isWanted(items) ? items.slice(first, next - shift - start) : []
      }
      number = next
    }
  }

  *#segments(from: number): IterableIterator<Segment> {
    for (let number = from; number < this.length; number++) {
      const first = BigInt(number)
      const span = this.#spanBefore(number)
      if (span !== undefined && number < span.end) number = span.end - 1
      yield { first, record: this.at(number)! }
    }
  }

  /** How many first blocks the chains share by origin: two blocks that happen to be alike do not count. */
  common(other: CanonicalChain): number {
    let common = Math.min(this.length, other.length)
    const [own, others] = [this.tail, other.tail]
    // a run has the same blocks before it wherever it is
    if (own !== undefined && own.run === others?.run) return common
    while (common > 0) {
      const [a, b] = [this.#placeAt(common - 1), other.#placeAt(common - 1)]
      if (a.run === b.run && isOneBlock(a.record, b.record)) return common
      const isSingle = a.run === undefined && b.run === undefined
      const isMixed = !isSingle && (a.run === undefined || b.run === undefined)
      // a block that became the head was taken out of its run
      if (isMixed && this.hashAt(common - 1) === other.hashAt(common - 1)) return common
      const from = isSingle ? common - 1 : Math.max(a.from, b.from)
      // runs differ in all blocks, but the lowest single block may have been taken out of one
      common = Math.min(common - 1, from + 1)
    }
    return 0
  }

  range(from: number, order: 'oldest first' | 'newest first' = 'oldest first'): BlockRange {
    const chain = this
    const length = this.length - from
    const reversed = order === 'newest first'
    const numberOf = (index: number): number => (reversed ? chain.length - 1 - index : from + index)
    const ordered = <T>(items: IterableIterator<T>): IterableIterator<T> =>
      reversed ? [...items].reverse().values() : items
    return {
      length,
      at: (index) => {
        const counted = index < 0 ? length + index : index
        return counted < 0 || counted >= length ? undefined : chain.at(numberOf(counted))
      },
      hashAt: (index) => chain.hashAt(numberOf(index))!,
      filled: () => ordered(chain.filled(from)),
      segments: () => ordered(chain.#segments(from)),
      *[Symbol.iterator]() {
        for (let index = 0; index < length; index++) yield chain.at(numberOf(index))!
      },
    }
  }

  get #single(): PersistentList<BlockRecord> {
    return this.#filed().single
  }

  get #spans(): PersistentList<Span> {
    return this.#filed().spans
  }

  #filed(): Blocks {
    this.#blocks ??= withTail(this.older, this.tail, this.length - 1)
    return this.#blocks
  }

  #placeAt(number: number) {
    const span = this.#spanBefore(number)
    if (span !== undefined && number < span.end) {
      return { run: span.run, record: undefined, from: span.start }
    }
    return { run: undefined, record: this.at(number), from: span?.end ?? 0 }
  }

  #spanBefore(number: number): Span | undefined {
    if (this.#spans.length === 0) return undefined
    return this.#spans.at(this.#indexBefore(number))
  }

  /** The index of the last span that begins at or before a number; -1 when there is none. */
  #indexBefore(number: number): number {
    let low = 0
    let high = this.#spans.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#spans.at(middle)!.start <= number) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

function withTail(older: Blocks, tail: Tail | undefined, end: number): Blocks {
  if (tail === undefined) return older
  const { run, start, head } = tail
  const { single, spans } = older
  return {
    single: single.push(head),
    spans: spans.push({ run, start, end, single: single.length }),
  }
}

export const NO_BLOCKS: BlockRange = CanonicalChain.empty().range(0)
