// Where long runs wait when they yield: however many there are, timers and sockets have their turn after each single one.

/** Lets those who wait go on one by one, each in a turn of the event loop of its own, in the order in which they came. */
export class YieldQueue {
  readonly #waiting: (() => void)[] = []

  /** Resolves when timers and sockets have had their turn, and all who waited before have gone on. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) setImmediate(this.#callOne)
    })
  }

  readonly #callOne = (): void => {
    const [goOn] = this.#waiting.splice(0, 1)
    goOn?.()
    if (this.#waiting.length > 0) setImmediate(this.#callOne)
  }
}
