// Who waits for something that several may read while it is made: it goes on for as long as one of them does.
import type { IsAwaited } from '../../evm/executor.ts'

/** The readers of one thing that is being made. */
export class Readers {
  /** Empty, the thing is given up. */
  #waiting: IsAwaited[]
  #isMade = false

  /** @param first the reader it is made for; undefined: one that always waits */
  constructor(first: IsAwaited | undefined) {
    this.#waiting = [first ?? always]
  }

  /** @returns false when the thing was given up, and must be made anew for this reader */
  join(reader: IsAwaited | undefined): boolean {
    if (this.#isMade) return true
    if (this.#waiting.length === 0) return false
    this.#waiting.push(reader ?? always)
    return true
  }

  /** False once the last reader is gone: then it stays false. Each that waits gets the gas used so far. */
  readonly isAwaited: IsAwaited = (gasUsed) => {
    this.#waiting = this.#waiting.filter((isWaiting) => isWaiting(gasUsed))
    return this.#waiting.length > 0
  }

  /** The thing is made, or failed: nobody waits any more. */
  end(): void {
    this.#isMade = true
    this.#waiting = []
  }
}

function always(): boolean {
  return true
}
