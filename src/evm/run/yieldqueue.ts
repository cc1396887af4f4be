// Queues long runs that yield, so that timers and sockets get a turn after each.

/** Continues the waiting runs in order, each in its own turn of the event loop. */
export class YieldQueue {
  readonly #waiting: (() => void)[] = []

  /** Resolves after one turn of the event loop and all earlier callers. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) setImmediate(this.#callOne)
    })
  }

  readonly #callOne = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#callOne)
  }
}
