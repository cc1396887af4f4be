// Turns of the event loop, which tests count where they would else measure time.
import { setImmediate } from 'node:timers/promises'
import { vi } from 'vitest'

/** Resolves when so many turns are over: timers and sockets had theirs. */
export async function nextTurn(turns = 1): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await setImmediate()
}

/** Counts turns until it is disposed of. */
export interface CountedTurns extends Disposable {
  readonly count: () => number
}

export function countTurns(): CountedTurns {
  let count = 0
  let next = globalThis.setImmediate(turn)
  function turn(): void {
    count += 1
    next = globalThis.setImmediate(turn)
  }
  return { count: () => count, [Symbol.dispose]: () => clearImmediate(next) }
}

/** Until it is disposed of, time passes with each look at the clock only: work in turns yields after 10 ms of it. */
export function slowClock(stepMs = 1): Disposable {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += stepMs
    return now
  })
  return { [Symbol.dispose]: () => clock.mockRestore() }
}
