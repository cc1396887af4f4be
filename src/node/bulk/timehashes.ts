// Hashes the ring of timestamps (EIP-4788) on a thread of its own, ahead of the blocks: it depends on no block's hash, and
// is a third of the work of mining empty ones.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Fewer blocks are mined before the thread has begun: 50 ms. */
const LEAST_BLOCKS = 16_384

/** Hashes that may be ready and not taken: 1 MB. */
const ROOM = 32_768

/** Blocks that the miner makes while the thread, which has begun, takes over the slots of those before: 10 ms. */
const LEAD = 1_024

/** A miner's memory, of which the thread gets a copy, and where in it is what the thread needs. */
export interface TimeHasher {
  readonly module: WebAssembly.Module
  readonly bytes: Uint8Array
  readonly order: number
  readonly timestamps: number
  /** Where `foretell` puts the hashes. */
  readonly accounts: number
  /** Timestamps that fit there. */
  readonly most: number
}

interface Task extends TimeHasher {
  readonly times: Float64Array
  readonly lead: number
  readonly hashes: Uint8Array
  /** Up to which block hashes were made, up to which they were taken, and from which on they are made. */
  readonly counts: Int32Array
}

/** Hashes of the account that keeps the ring, after each of some blocks. */
export class TimeHashes {
  readonly #worker: Worker
  readonly #hashes = new Uint8Array(new SharedArrayBuffer(32 * ROOM))
  readonly #counts = new Int32Array(new SharedArrayBuffer(12))

  private constructor(hasher: TimeHasher, times: Float64Array, onBug: (error: unknown) => void) {
    const [hashes, counts] = [this.#hashes, this.#counts]
    // the thread sees the copy where it is: to send it would take another
    const bytes = new Uint8Array(new SharedArrayBuffer(hasher.bytes.length))
    bytes.set(hasher.bytes)
    const workerData: Task = { ...hasher, bytes, times, lead: LEAD, hashes, counts }
    this.#worker = new Worker(`(${work.toString()})(require('worker_threads').workerData)`, {
      eval: true,
      workerData,
    })
    this.#worker.unref()
    // without the thread the blocks take longer, and are the same
    this.#worker.on('error', onBug)
  }

  /**
   * Begins to hash for blocks with these timestamps; undefined where that is not worth the effort, or can't be.
   * @param onBug told of what goes wrong, at once or later: there are no more hashes then
   */
  static begin(
    hasher: TimeHasher,
    times: Float64Array,
    onBug: (error: unknown) => void,
  ): TimeHashes | undefined {
    if (times.length < LEAST_BLOCKS || availableParallelism() === 1) return undefined
    try {
      return new TimeHashes(hasher, times, onBug)
    } catch (error) {
      // a process may not be allowed to have threads (node's --permission)
      if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') onBug(error)
      return undefined
    }
  }

  /** Hashes for `count` blocks from the `index`-th on, as far as they are there: 32 bytes each, not to be kept. */
  from(index: number, count: number): Uint8Array {
    const ready = Atomics.load(this.#counts, 0) - index
    const isBefore = index < Atomics.load(this.#counts, 2)
    const start = index % ROOM
    const length = isBefore ? 0 : Math.max(0, Math.min(count, ready, ROOM - start))
    return this.#hashes.subarray(32 * start, 32 * (start + length))
  }

  /** Gives the room of what is before the `index`-th back. */
  giveBack(index: number): void {
    Atomics.store(this.#counts, 1, index)
    Atomics.notify(this.#counts, 1)
  }

  close(): void {
    void this.#worker.terminate()
  }
}

/** What the thread does. Only the text of this function gets there, so it uses nothing but its parameter. */
function work({ module, bytes, order, timestamps, accounts, most, ...task }: Task): void {
  const { exports } = new WebAssembly.Instance(module, {})
  const { memory, allocate, follow, foretell } = exports as {
    readonly memory: WebAssembly.Memory
    readonly allocate: (length: number) => number
    readonly follow: (order: number, count: number) => number
    readonly foretell: (order: number, count: number) => number
  }
  // what it allocates is beyond what is there already
  allocate(bytes.length)
  new Uint8Array(memory.buffer).set(bytes)
  const { times, hashes, counts } = task
  const room = hashes.length / 32
  const give = (index: number, count: number): void =>
    new Float64Array(memory.buffer, timestamps).set(times.subarray(index, index + count))
  // the miner has gone on by itself meanwhile
  const first = Math.min(times.length, Atomics.load(counts, 1) + task.lead)
  for (let index = 0; index < first; index += most) {
    const count = Math.min(most, first - index)
    give(index, count)
    if (follow(order, count) < count) return
  }
  Atomics.store(counts, 2, first)
  for (let index = first; index < times.length; ) {
    const taken = Atomics.load(counts, 1)
    if (index + most > taken + room) {
      Atomics.wait(counts, 1, taken)
      continue
    }
    const start = index % room
    const count = Math.min(most, times.length - index, room - start)
    give(index, count)
    if (foretell(order, count) < count) return
    hashes.set(new Uint8Array(memory.buffer, accounts, 32 * count), 32 * start)
    index += count
    Atomics.store(counts, 0, index)
  }
}
