// Linear memory with Keccak-256 in it, for bytes that are hashed again and again as parts of them change.
import { WASM } from './sponge.wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  readonly run: (first: number, firstCount: number, second: number, secondCount: number) => void
}

/** What is hashed next, in the order in which it came. What depends on a hash comes later in the same queue, or run. */
export type Queue = 0 | 1

/** Bytes that the sponge takes in at once; what comes before a changed byte is kept by blocks of them. */
export const RATE = 136

/** Bytes of the sponge's state. */
export const STATE_LENGTH = 200

/** Numbers of four bytes in a job. */
const JOB_WORDS = 5

/** Jobs that a queue holds. */
const QUEUE_LENGTH = 256

/** The module's own constants are below; the queues come first. */
const QUEUES = 4096

const QUEUE_BYTES = 4 * JOB_WORDS * QUEUE_LENGTH

const PAGE = 65_536

/** Pages that the memory grows by: 1 MB. */
const GROWTH = 16

/**
 * A piece of linear memory that is only ever given out, never taken back: it goes as a whole, with its last user.
 * `bytes` is another array after `allocate`.
 */
export class Arena {
  readonly #exports: Exports
  readonly #queued: [number, number] = [0, 0]
  #words: Int32Array
  #free = QUEUES + 2 * QUEUE_BYTES
  bytes: Uint8Array

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(WASM, 'base64'))
    this.#exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports
    this.bytes = new Uint8Array(this.#exports.memory.buffer)
    this.#words = new Int32Array(this.#exports.memory.buffer)
  }

  /** @returns where `length` bytes of zeros are */
  allocate(length: number): number {
    const at = this.#free
    this.#free = (at + length + 7) & ~7
    const missing = this.#free - this.bytes.length
    if (missing > 0) {
      this.#exports.memory.grow(Math.max(GROWTH, Math.ceil(missing / PAGE)))
      this.bytes = new Uint8Array(this.#exports.memory.buffer)
      this.#words = new Int32Array(this.#exports.memory.buffer)
    }
    return at
  }

  /**
   * Has `length` bytes at `source` hashed at the next `run` at the latest; the 32 bytes of the hash go to `target`.
   * @param from the first byte that changed since the same bytes were hashed the last time; 0 the first time
   * @param states where `STATE_LENGTH` bytes for each whole block of `RATE` bytes are kept between the times; 0: nowhere,
   *   and `from` is 0
   */
  enqueue(
    queue: Queue,
    source: number,
    length: number,
    from: number,
    states: number,
    target: number,
  ): void {
    if (this.#queued[queue] === QUEUE_LENGTH) this.run()
    const words = this.#words
    const at = (QUEUES + queue * QUEUE_BYTES) / 4 + JOB_WORDS * this.#queued[queue]
    words[at] = source
    words[at + 1] = length
    words[at + 2] = from
    words[at + 3] = states
    words[at + 4] = target
    this.#queued[queue] += 1
  }

  /** Hashes all that is queued: in pairs, one of each queue, which takes two thirds of the time of one after another. */
  run(): void {
    const [first, second] = this.#queued
    this.#exports.run(QUEUES, first, QUEUES + QUEUE_BYTES, second)
    this.#queued[0] = 0
    this.#queued[1] = 0
  }
}
