// Lets long work yield to other work on this thread, and hints to V8 to collect its garbage.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MaybePromise } from './promises.ts'

/** Await it between two pieces of work: it returns a promise if it is time to yield. */
export type YieldIfDue = () => Promise<void> | undefined

const TURN_MS = 10

/** `pause` yields; if it throws, the work throws. */
export function yielder(
  turnMs: number = TURN_MS,
  pause: () => Promise<unknown> = () => nextTurn(),
): YieldIfDue {
  let turnEnds = performance.now() + turnMs
  return () => {
    if (performance.now() < turnEnds) return undefined
    return pause().then(() => {
      turnEnds = performance.now() + turnMs
    })
  }
}

/** As `yielder`, for concurrent works: they share one turn, and one waiting work continues in the next. */
export function sharedYielder(turnMs: number = TURN_MS): YieldIfDue {
  const waiting: (() => void)[] = []
  /** Undefined if no work ran in this turn. */
  let turnEnds: number | undefined
  const begin = (): number => {
    setImmediate(() => {
      turnEnds = undefined
      const next = waiting.shift()
      if (next === undefined) return
      begin()
      next()
    })
    turnEnds = performance.now() + turnMs
    return turnEnds
  }
  return () => {
    if (performance.now() < (turnEnds ?? begin())) return undefined
    return new Promise((resolve) => {
      waiting.push(resolve)
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
 * @param items undefined items are skipped
 * @param most most items in the list
 * @returns undefined if there are more
 */
export function collect<T>(
  items: Iterable<T | undefined>,
  most: number,
): MaybePromise<T[] | undefined> {
  const yieldIfDue = yielder()
  const found: T[] = []
  const rest = items[Symbol.iterator]()
  const goOn = (): MaybePromise<T[] | undefined> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      if (next.value !== undefined && found.push(next.value) > most) return undefined
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
  try {
    return new ArrayBuffer(PRESSURE)
  } catch {
    return undefined
  }
}
