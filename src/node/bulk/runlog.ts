// The 72 bytes that are kept of each block of a run, as assembly/runminer.ts writes them.

/** Bytes of a block: its timestamp in seconds (a double), its hash, its state root. */
export const ENTRY = 72
const HASH = 8
const ROOT = 40

export const BATCH = 64

export const CHUNK = 512

/** Append-only, shared by branches. Its chunks never move: copying a million blocks would block the event loop. */
export class RunLog {
  readonly #chunks: Uint8Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  hashAt(index: number): Uint8Array {
    return this.#entryAt(index).subarray(HASH, ROOT)
  }

  rootAt(index: number): Uint8Array {
    return this.#entryAt(index).subarray(ROOT)
  }

  timestampAt(index: number): bigint {
    const { buffer, byteOffset } = this.#entryAt(index)
    return BigInt(new DataView(buffer).getFloat64(byteOffset, true))
  }

  /** Of the blocks from `start` to before `end`; a copy. */
  entries(start: number, end: number): Uint8Array {
    const bytes = new Uint8Array(ENTRY * (end - start))
    for (let index = start; index < end; index++) {
      bytes.set(this.#entryAt(index), ENTRY * (index - start))
    }
    return bytes
  }

  push(entries: Uint8Array): void {
    for (let from = 0; from < entries.length; ) {
      const at = this.#length % CHUNK
      if (at === 0) this.#chunks.push(new Uint8Array(ENTRY * CHUNK))
      const part = entries.subarray(from, from + ENTRY * (CHUNK - at))
      this.#chunks.at(-1)!.set(part, ENTRY * at)
      this.#length += part.length / ENTRY
      from += part.length
    }
  }

  #entryAt(index: number): Uint8Array {
    const at = ENTRY * (index % CHUNK)
    return this.#chunks[Math.floor(index / CHUNK)]!.subarray(at, at + ENTRY)
  }
}
