// Waits for what has no event to wait for: files of other processes, counters, the answers of a node.
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Far more than anything takes on a machine under full load, and less than a test has. */
const PATIENCE_MS = 30_000

const POLL_MS = 5

/** Asks again and again until `holds` is true of the answer, and gives the answer. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean = Boolean,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > end) {
      throw new Error(`still ${inspect(answer)} after ${patienceMs / 1_000} s: ${ask}`)
    }
    await pause(POLL_MS)
  }
}
