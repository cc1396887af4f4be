// Readers that share one result while it is built: the build is cancelled when all of them are gone.
import type { Cancellation } from '../../evm/cancellation.ts'

export class Readers implements Cancellation {
  #waiting: (Cancellation | undefined)[]
  #isMade = false

  /** @param first undefined: a reader that always waits */
  constructor(first: Cancellation | undefined) {
    this.#waiting = [first]
  }

  /** True once the last reader is gone. */
  get aborted(): boolean {
    return this.#waiting.length === 0
  }

  /** @returns false when the build was cancelled and has to start again */
  join(reader: Cancellation | undefined): boolean {
    if (this.#isMade) return true
    if (this.aborted) return false
    this.#waiting.push(reader)
    return true
  }

  onPause(gasUsed?: bigint): void {
    for (const reader of this.#waiting) reader?.onPause?.(gasUsed)
    this.#waiting = this.#waiting.filter((reader) => reader?.aborted !== true)
  }

  end(): void {
    this.#isMade = true
    this.#waiting = []
  }
}
