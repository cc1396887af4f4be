// What a state refers to, directly or not, found and copied without knowing what objects mean. Objects refer to earlier ones
// only, so one pass from the last to the first finds all, and one from the first to the last copies them.
import { bitCount } from '../core/persistent.ts'
import { yielder } from '../core/yield.ts'
import { ByteReader, ByteStack } from './bytes.ts'
import { ALIGNMENT, damaged, roomFor } from './frames.ts'
import { type Medium, referencesIn } from './objects.ts'

/** Objects between two pauses: less than a millisecond. */
const STRETCH = 64

/** Milliseconds of a turn: requests come between them. */
const TURN_MS = 4

export class Reachable {
  objects = 0
  /** Of these objects, with what stands between them. */
  bytes = 0
  /** A bit for each place at which an object may begin. */
  readonly #bits: Uint32Array
  readonly #from: Medium
  readonly #before: Copied | undefined

  /**
   * @param size bytes before which all objects stand
   * @param before what was copied already, and is not found again
   */
  constructor(from: Medium, size: number, before?: Copied) {
    this.#from = from
    this.#before = before
    this.#bits = new Uint32Array(Math.ceil(size / ALIGNMENT / 32))
  }

  /**
   * Finds all objects that one refers to, and itself. Yields where work may pause.
   * @throws {CorruptStore} at a damaged object
   */
  *find(root: number): Generator<undefined> {
    if (this.#before?.of(root) === undefined) this.#mark(root)
    const bits = this.#bits
    for (let word = Math.floor(root / ALIGNMENT / 32); word >= 0; word--) {
      // marks below the one at hand come while it is read
      for (let left = bits[word]!; left !== 0; ) {
        const bit = 31 - Math.clz32(left)
        this.#visit((32 * word + bit) * ALIGNMENT)
        if (this.objects % STRETCH === 0) yield
        left = bits[word]! & ((1 << bit) - 1)
      }
    }
  }

  #visit(position: number): void {
    const body = this.#from.read(position)
    this.objects += 1
    this.bytes += roomFor(body.length)
    for (const each of referencesIn(new ByteReader(body))) {
      if (each >= position) throw damaged(position)
      if (this.#before?.of(each) === undefined) this.#mark(each)
    }
  }

  #mark(position: number): void {
    const place = position / ALIGNMENT
    this.#bits[Math.floor(place / 32)]! |= 1 << (place & 31)
  }

  /** Appends all that were found elsewhere. Yields where work may pause; returns where they are there. */
  *copyTo(to: Medium): Generator<undefined, Copied> {
    const places = new Copied(this.#bits, this.objects, this.#before)
    const copy = new ByteStack()
    for (let word = 0; word < this.#bits.length; word++) {
      for (let left = this.#bits[word]!; left !== 0; left &= left - 1) {
        const bit = 31 - Math.clz32(left & -left)
        const from = new ByteReader(this.#from.read((32 * word + bit) * ALIGNMENT))
        const references = referencesIn(from)
        copy.count(references.length)
        for (const each of references) copy.count(places.of(each)! / ALIGNMENT)
        copy.raw(from.rest())
        places.push(to.append(copy.pop(0)))
        if (places.count % STRETCH === 0) yield
      }
    }
    return places
  }
}

/** Where objects were copied to, in the order of their old positions: found by counting the bits before theirs. */
export class Copied {
  count = 0
  readonly #bits: Uint32Array
  readonly #counts: Uint32Array
  readonly #places: Float64Array
  readonly #before: Copied | undefined

  constructor(bits: Uint32Array, objects: number, before: Copied | undefined) {
    this.#before = before
    this.#bits = bits
    this.#places = new Float64Array(objects)
    this.#counts = new Uint32Array(bits.length)
    for (let word = 1; word < bits.length; word++) {
      this.#counts[word] = this.#counts[word - 1]! + bitCount(bits[word - 1]!)
    }
  }

  push(position: number): void {
    this.#places[this.count++] = position
  }

  /** Undefined if it was not copied. */
  of(position: number): number | undefined {
    const place = position / ALIGNMENT
    const word = Math.floor(place / 32)
    const bit = 1 << (place & 31)
    const bits = this.#bits[word] ?? 0
    if ((bits & bit) === 0) return this.#before?.of(position)
    return this.#places[this.#counts[word]! + bitCount(bits & (bit - 1))]
  }
}

/** What work returns that is not paused. */
export function finished<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** The same, while other work goes on. */
export async function finishedInTurns<T>(
  work: Generator<undefined, T>,
  signal: AbortSignal,
): Promise<T> {
  const yieldIfDue = yielder(TURN_MS)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    signal.throwIfAborted()
    await yieldIfDue()
  }
}
