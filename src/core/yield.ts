// Lets long work yield to other work on this thread, and hints to V8 to collect its garbage.
import { setImmediate as turn } from 'node:timers/promises'
import { attempt } from './errors.ts'
import type { MaybePromise } from './promises.ts'

/** Await it between two pieces of work: it returns a promise if it is time to yield. */
export type YieldIfDue = () => Promise<void> | undefined

const TURN_MS = 10

/** Continues waiting works in order, each in its own turn of the event loop: all in one turn would hold it together. */
export class TurnQueue {
  readonly #waiting: (() => void)[] = []

  /** Resolves after one turn of the event loop and all earlier callers. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) void turn().then(this.#callOne)
    })
  }

  readonly #callOne = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) void turn().then(this.#callOne)
  }
}

const turns = new TurnQueue()

/** The queue of all works of this thread. */
export const nextTurn = (): Promise<void> => turns.next()

/** Concurrent works may share one: each continues in its own turn. `pause` yields; if it throws, the work throws. */
export function yielder(
  turnMs: number = TURN_MS,
  pause: () => Promise<unknown> = nextTurn,
): YieldIfDue {
  let turnEnds = performance.now() + turnMs
  return () => {
    if (performance.now() < turnEnds) return undefined
    return pause().then(() => {
      turnEnds = performance.now() + turnMs
    })
  }
}

const ITEMS_PER_TURN = 1_000

export async function* yielding<T>(items: Iterable<T>): AsyncIterableIterator<T> {
  let count = 0
  for (const item of items) {
    count += 1
    if (count % ITEMS_PER_TURN === 0) await nextTurn()
    yield item
  }
}

/**
 * Collects the items, synchronously if that fits in one turn.
 * @param pieces items that are made together
 * @param most most items in the list
 * @returns undefined if there are more
 */
export function collect<T>(
  pieces: Iterable<readonly T[]>,
  most: number,
): MaybePromise<T[] | undefined> {
  const yieldIfDue = yielder()
  const found: T[] = []
  const rest = pieces[Symbol.iterator]()
  const goOn = (): MaybePromise<T[] | undefined> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      for (const item of next.value) found.push(item)
      if (found.length > most) return undefined
      const pause = yieldIfDue()
      if (pause !== undefined) return pause.then(goOn)
    }
    return found
  }
  return goOn()
}

/** More than the 64 MiB of external memory growth that V8 tolerates. */
const PRESSURE = 128 * 1024 * 1024

/**
 * Makes V8 start a concurrent collection, as it does when external memory grows. Nothing is written, so the system commits no
 * pages. `gc()` would stop everything for a full mark.
 * @returns the memory, as a compiler drops an unused allocation
 */
export function hintAtPressure(): ArrayBuffer | undefined {
  return attempt(() => new ArrayBuffer(PRESSURE))
}
