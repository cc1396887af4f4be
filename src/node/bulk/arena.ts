// Linear memory with Keccak-256 in it, for bytes that are hashed repeatedly as parts of them change.
import { WASM } from './runminer.wasm.ts'

/** What the module exports. Jobs, tries and rings are known by their addresses (assembly/). */
interface Exports {
  readonly memory: WebAssembly.Memory
  /** Allocates zeroed bytes. */
  readonly allocate: (length: number) => number
  /** Both key and value are in the memory. Returns 0 when a node is too short to be hashed. */
  readonly put: (trie: number, key: number, value: number, length: number) => number
  /** Queues the changes for the next `run`, in one of two queues (0 or 1). */
  readonly hash: (trie: number, queue: number) => void
  readonly enqueue: (queue: number, job: number) => void
  readonly run: () => void
  readonly mine: (parameters: number, number: number, count: number) => number
  readonly fill: (ring: number, slot: number, value: number, length: number) => number
}

const MODULE = new WebAssembly.Module(Buffer.from(WASM, 'base64'))

/** Bytes of the sponge's state, kept for each whole block of `RATE` bytes. */
const STATE_LENGTH = 200

/** Bytes that the sponge absorbs at once. */
const RATE = 136

/** Hashes `length` bytes at `source`; the 32 bytes of the hash go to `target`. */
export interface HashJob {
  readonly source: number
  readonly length: number
  /** Where the sponge states are kept between runs; 0 for nowhere. */
  readonly states?: number
  readonly target: number
}

/** A piece of linear memory that is never freed in parts: it goes as a whole, with its last user. */
export class Arena {
  readonly exports: Exports
  #bytes: Uint8Array

  constructor() {
    this.exports = new WebAssembly.Instance(MODULE, {}).exports as unknown as Exports
    this.#bytes = new Uint8Array(this.exports.memory.buffer)
  }

  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.exports.memory.buffer)
    return this.#bytes
  }

  allocate(length: number): number {
    return this.exports.allocate(length)
  }

  store(bytes: Uint8Array): number {
    const at = this.allocate(bytes.length)
    this.bytes.set(bytes, at)
    return at
  }

  storeWords(words: readonly number[]): number {
    const at = this.allocate(4 * words.length)
    this.setWords(at, words)
    return at
  }

  setWords(at: number, words: readonly number[]): void {
    new Uint32Array(this.exports.memory.buffer, at).set(words)
  }

  /** @returns the job's address (assembly/jobs.ts) */
  storeJob({ source, length, states = 0, target }: HashJob): number {
    return this.storeWords([source, length, 0, states, target])
  }

  /** Sets the first byte that changes from now on, after the job ran once. */
  setFrom(job: number, from: number): void {
    this.setWords(job + 8, [from])
  }

  storeStates(length: number): number {
    return this.allocate(Math.floor(length / RATE) * STATE_LENGTH)
  }

  /**
   * Sets a key of a live trie to a value: RLP of at most 55 bytes.
   * @returns false when a node became too short to be hashed: two keys share ten nibbles or more. The trie is unusable
   *   then
   */
  put(trie: number, key: Uint8Array, value: Uint8Array): boolean {
    return this.exports.put(trie, this.store(key), this.store(value), value.length) !== 0
  }
}
