// Clock and randomness of links; tests replace them.

export interface Timing {
  /** Monotonic milliseconds. */
  now(): number
  /** @returns cancels the timer */
  after(ms: number, then: () => void): () => void
  /** In [0, 1), for jitter. */
  chance(): number
}

export function pause(timing: Timing, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timing.after(ms, resolve)
  })
}

/** Its timers do not keep the process alive. */
export const systemTiming: Timing = {
  now: () => performance.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms).unref()
    return () => clearTimeout(timer)
  },
  chance: () => Math.random(),
}
