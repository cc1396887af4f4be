// Going through many items without keeping others waiting.
import { setImmediate as nextTurn } from 'node:timers/promises'

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
