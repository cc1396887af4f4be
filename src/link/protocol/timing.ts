// Time and chance, as links have them from outside: tests pass their own.

export interface Timing {
  /** Milliseconds that only grow. */
  now(): number
  /**
   * Calls `then` after so many milliseconds.
   * @returns ends the waiting
   */
  after(ms: number, then: () => void): () => void
  /** From 0 to below 1, to spread what would otherwise happen at once. */
  chance(): number
}

/** Resolves after so many milliseconds. */
export function pause(timing: Timing, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timing.after(ms, resolve)
  })
}

/** The clock of the process. Its timers keep no process alive. */
export const systemTiming: Timing = {
  now: () => performance.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms).unref()
    return () => clearTimeout(timer)
  },
  chance: () => Math.random(),
}
