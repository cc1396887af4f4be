// Linear memory with Keccak-256 in it, for bytes that are hashed again and again as parts of them change.
import { WASM } from './sponge.wasm.ts'

/** What a module has that an arena is made of. */
export interface ArenaExports {
  readonly memory: WebAssembly.Memory
  readonly run: (first: number, firstEnd: number, second: number, secondEnd: number) => void
}

/** What is hashed next, in the order in which it came. What depends on a hash comes later in the same queue, or run. */
export type Queue = 0 | 1

/** Bytes that the sponge takes in at once; what comes before a changed byte is kept by blocks of them. */
export const RATE = 136

/** Bytes of the sponge's state. */
export const STATE_LENGTH = 200

/** `length` bytes at `source` are hashed, and the 32 bytes of the hash go to `target`. */
export interface Job {
  readonly source: number
  readonly length: number
  /** The first byte that changed since the same bytes were hashed the last time; 0 the first time. */
  readonly from: number
  /** Where `STATE_LENGTH` bytes for each whole block of `RATE` bytes are kept between the times; 0: nowhere, and so is `from`. */
  readonly states: number
  readonly target: number
}

/** Bytes of a job in memory. */
export const JOB_LENGTH = 20

/** Jobs that a queue holds. */
const QUEUE_LENGTH = 256

/** The module's own constants are below; the queues come first. */
const QUEUES = 4096

const QUEUE_BYTES = JOB_LENGTH * QUEUE_LENGTH

const PAGE = 65_536

/** Pages that the memory grows by: 1 MB. */
const GROWTH = 16

/**
 * A piece of linear memory that is only ever given out, never taken back: it goes as a whole, with its last user.
 * `bytes` and `words` are other arrays after `allocate`.
 */
export class Arena<E extends ArenaExports = ArenaExports> {
  readonly exports: E
  readonly #queued: [number, number] = [0, 0]
  #free = QUEUES + 2 * QUEUE_BYTES
  bytes: Uint8Array
  words: Int32Array

  /** @param wasm the module, in base64, when it can do more than hash */
  constructor(wasm: string = WASM) {
    const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'))
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as E
    this.bytes = new Uint8Array(this.exports.memory.buffer)
    this.words = new Int32Array(this.exports.memory.buffer)
  }

  /** @returns where `length` bytes of zeros are */
  allocate(length: number): number {
    const at = this.#free
    this.#free = (at + length + 7) & ~7
    const missing = this.#free - this.bytes.length
    if (missing > 0) {
      this.exports.memory.grow(Math.max(GROWTH, Math.ceil(missing / PAGE)))
      this.bytes = new Uint8Array(this.exports.memory.buffer)
      this.words = new Int32Array(this.exports.memory.buffer)
    }
    return at
  }

  /** Has a job done at the next `run` at the latest. */
  enqueue(queue: Queue, job: Job): void {
    if (this.#queued[queue] === QUEUE_LENGTH) this.run()
    this.#write(QUEUES + queue * QUEUE_BYTES + JOB_LENGTH * this.#queued[queue], job)
    this.#queued[queue] += 1
  }

  /** Writes jobs as the module reads them, `JOB_LENGTH` bytes each; returns where they end. */
  writeJobs(at: number, jobs: readonly Job[]): number {
    for (const [index, job] of jobs.entries()) this.#write(at + JOB_LENGTH * index, job)
    return at + JOB_LENGTH * jobs.length
  }

  /** Hashes all that is queued: in pairs, one of each queue, which takes two thirds of the time of one after another. */
  run(): void {
    const [first, second] = this.#queued
    const firstEnd = QUEUES + JOB_LENGTH * first
    const secondStart = QUEUES + QUEUE_BYTES
    this.exports.run(QUEUES, firstEnd, secondStart, secondStart + JOB_LENGTH * second)
    this.#queued[0] = 0
    this.#queued[1] = 0
  }

  #write(at: number, { source, length, from, states, target }: Job): void {
    const { words } = this
    const first = at / 4
    words[first] = source
    words[first + 1] = length
    words[first + 2] = from
    words[first + 3] = states
    words[first + 4] = target
  }
}
