// Long work on this thread: it yields to others in between, and has the memory that it leaves given back.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MaybePromise } from './promises.ts'

/** To be awaited between two pieces of work: a promise where it is the turn of others, else nothing. */
export type YieldIfDue = () => Promise<void> | undefined

/** Milliseconds of work after which others have their turn, where nothing else is said. */
const TURN_MS = 10

/**
 * Counts from now on.
 * @param pause gives others their turn; what it throws, the work throws
 */
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

/**
 * As `yielder`, for work of several kinds that goes on at the same time: together it has one turn, and of what waits for
 * the next one a single piece goes on.
 */
export function sharedYielder(turnMs: number = TURN_MS): YieldIfDue {
  const waiting: (() => void)[] = []
  /** Undefined: nothing was done in this turn. */
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

/** Items that are looked at before others get a turn. */
const ITEMS_PER_TURN = 1_000

/** The same items, with a turn for others now and then. */
export async function* yielding<T>(items: Iterable<T>): AsyncIterableIterator<T> {
  let count = 0
  for (const item of items) {
    count += 1
    if (count % ITEMS_PER_TURN === 0) await nextTurn()
    yield item
  }
}

/**
 * The items, as a list: at once where that takes no longer than a turn, else with turns for others in between.
 * @param items undefined where one was looked at and is not wanted
 * @param most items that the list may have
 * @returns undefined when there are more
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

/** Bytes that V8 holds for pressure: more than the 64 MiB that it lets memory outside of its heap grow by. */
const PRESSURE = 128 * 1024 * 1024

/**
 * Lets V8 begin to collect beside other work, as it does when memory outside of its heap grows. Nothing is written to this
 * memory, so that the system gives none. `gc()` would hold everything up for as long as all that lives takes.
 * @returns the memory: what nobody takes, a compiler leaves out
 */
export function hintAtPressure(): ArrayBuffer | undefined {
  try {
    return new ArrayBuffer(PRESSURE)
  } catch {
    // there is no room for it: then V8 knows
    return undefined
  }
}
