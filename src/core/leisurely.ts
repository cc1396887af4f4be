// Going through many items without keeping others waiting.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { breather } from './breather.ts'
import type { MaybePromise } from './promises.ts'

/** Items that are looked at before others get a turn: about a millisecond, where each is an account of a trie. */
const TURN = 1_000

/** The same items, with a turn for others now and then. */
export async function* leisurely<T>(items: Iterable<T>): AsyncIterableIterator<T> {
  let count = 0
  for (const item of items) {
    count += 1
    if (count % TURN === 0) await nextTurn()
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
  const breathe = breather()
  const found: T[] = []
  const rest = items[Symbol.iterator]()
  const goOn = (): MaybePromise<T[] | undefined> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      if (next.value !== undefined && found.push(next.value) > most) return undefined
      const pause = breathe()
      if (pause !== undefined) return pause.then(goOn)
    }
    return found
  }
  return goOn()
}
