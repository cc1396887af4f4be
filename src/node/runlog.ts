// What is kept of empty blocks in a row: hash, state root and timestamp, 72 bytes a block.

/** Bytes of a hash. */
const WORD = 32

/** A list that only grows. What was read of it stays true: parts of it are shared by chains that go on from them. */
export class RunLog {
  #hashes = new Uint8Array(0)
  #roots = new Uint8Array(0)
  #timestamps = new Float64Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  hashAt(index: number): Uint8Array {
    return this.#hashes.subarray(WORD * index, WORD * (index + 1))
  }

  rootAt(index: number): Uint8Array {
    return this.#roots.subarray(WORD * index, WORD * (index + 1))
  }

  /** Seconds. */
  timestampAt(index: number): bigint {
    return BigInt(this.#timestamps[index]!)
  }

  /** Makes room for so many more, where it is known how many come. */
  reserve(count: number): void {
    const wanted = this.#length + count
    if (wanted <= this.#timestamps.length) return
    this.#hashes = grown(this.#hashes, new Uint8Array(WORD * wanted))
    this.#roots = grown(this.#roots, new Uint8Array(WORD * wanted))
    this.#timestamps = grown(this.#timestamps, new Float64Array(wanted))
  }

  /** Adds the first `count` of each: seconds, and 32 bytes a block, which are copied. */
  push(count: number, timestamps: Float64Array, hashes: Uint8Array, roots: Uint8Array): void {
    const length = this.#length
    if (length + count > this.#timestamps.length) this.reserve(Math.max(256, length >> 3))
    copyWords(this.#hashes, length, hashes, count)
    copyWords(this.#roots, length, roots, count)
    for (let index = 0; index < count; index++) {
      this.#timestamps[length + index] = timestamps[index]!
    }
    this.#length = length + count
  }
}

function copyWords(to: Uint8Array, index: number, from: Uint8Array, count: number): void {
  to.set(from.subarray(0, WORD * count), WORD * index)
}

function grown<T extends Uint8Array | Float64Array>(old: T, next: T): T {
  next.set(old)
  return next
}
