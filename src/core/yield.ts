// Long work on this thread that yields to others in between.
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
