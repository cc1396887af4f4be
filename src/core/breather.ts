// Long work on this thread, with turns for others in between.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** To be awaited between two pieces of work: a promise where it is the turn of others, else nothing. */
export type Breathe = () => Promise<void> | undefined

/** Milliseconds of work after which others have their turn, where nothing else is said. */
const TURN_MS = 10

/**
 * Counts from now on.
 * @param pause gives others their turn; what it throws, the work throws
 */
export function breather(
  turnMs: number = TURN_MS,
  pause: () => Promise<unknown> = () => nextTurn(),
): Breathe {
  let turnEnds = performance.now() + turnMs
  return () => {
    if (performance.now() < turnEnds) return undefined
    return pause().then(() => {
      turnEnds = performance.now() + turnMs
    })
  }
}
