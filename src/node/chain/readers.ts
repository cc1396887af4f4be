// Readers that share one result while it is built: the build continues while one of them waits.
import type { IsAwaited } from '../../evm/executor.ts'

export class Readers {
  #waiting: IsAwaited[]
  #isMade = false

  /** @param first undefined: a reader that always waits */
  constructor(first: IsAwaited | undefined) {
    this.#waiting = [first ?? always]
  }

  /** @returns false when the build was cancelled and has to start again */
  join(reader: IsAwaited | undefined): boolean {
    if (this.#isMade) return true
    if (this.#waiting.length === 0) return false
    this.#waiting.push(reader ?? always)
    return true
  }

  /** Stays false once the last reader is gone. Each waiting reader gets the gas used so far. */
  readonly isAwaited: IsAwaited = (gasUsed) => {
    this.#waiting = this.#waiting.filter((isWaiting) => isWaiting(gasUsed))
    return this.#waiting.length > 0
  }

  end(): void {
    this.#isMade = true
    this.#waiting = []
  }
}

function always(): boolean {
  return true
}
