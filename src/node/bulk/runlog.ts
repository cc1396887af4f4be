// What is kept of each block of a run: hash, state root and timestamp.

/** Bytes of a hash. */
const WORD = 32

/** Blocks that stand together. */
export const CHUNK = 512

/** Blocks in a row: a hash, a state root and a timestamp in seconds of each. */
interface Chunk {
  readonly hashes: Uint8Array
  readonly roots: Uint8Array
  readonly timestamps: Float64Array
}

/**
 * A list that only grows. What was read of it stays true: parts of it are shared by chains that go on from them. It grows
 * by chunks that stay where they are: to move a million blocks to a larger array would keep all others waiting.
 */
export class RunLog {
  readonly #chunks: Chunk[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  hashAt(index: number): Uint8Array {
    return wordAt(this.#chunkOf(index).hashes, index % CHUNK)
  }

  rootAt(index: number): Uint8Array {
    return wordAt(this.#chunkOf(index).roots, index % CHUNK)
  }

  /** Seconds. */
  timestampAt(index: number): bigint {
    return BigInt(this.#chunkOf(index).timestamps[index % CHUNK]!)
  }

  /** Adds the first `count` of each: seconds, and 32 bytes a block, which are copied. */
  push(count: number, timestamps: Float64Array, hashes: Uint8Array, roots: Uint8Array): void {
    for (let from = 0; from < count; ) {
      const at = this.#length % CHUNK
      if (at === 0) this.#chunks.push(newChunk())
      const chunk = this.#chunks.at(-1)!
      const to = Math.min(count, from + CHUNK - at)
      chunk.timestamps.set(timestamps.subarray(from, to), at)
      chunk.hashes.set(hashes.subarray(WORD * from, WORD * to), WORD * at)
      chunk.roots.set(roots.subarray(WORD * from, WORD * to), WORD * at)
      this.#length += to - from
      from = to
    }
  }

  #chunkOf(index: number): Chunk {
    return this.#chunks[Math.floor(index / CHUNK)]!
  }
}

function newChunk(): Chunk {
  return {
    hashes: new Uint8Array(WORD * CHUNK),
    roots: new Uint8Array(WORD * CHUNK),
    timestamps: new Float64Array(CHUNK),
  }
}

function wordAt(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.subarray(WORD * index, WORD * (index + 1))
}
