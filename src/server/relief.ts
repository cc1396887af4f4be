// Has the memory of large replies given back, once nobody asks for more.
import { hintAtPressure } from '../core/yield.ts'

/** Bytes of replies after which there is something to give back. */
const LARGE = 16 * 1024 * 1024

/** Milliseconds without a long reply: a server that is busy collects its garbage anyway. */
const QUIET_MS = 1_000

/** The first hint ends the collection that is under way, which keeps what was alive as it began; the second one the rest. */
const HINTS = 3

/** Counts what is replied. V8 grows its heap for a large reply, and does not look at it again while nothing happens. */
export class Relief {
  readonly #hint: () => unknown
  readonly #quietMs: number
  #bytes = 0
  /** True when something was replied since the timer was set. */
  #isBusy = false
  #hints = 0
  #timer: NodeJS.Timeout | undefined

  constructor(hint: () => unknown = hintAtPressure, quietMs: number = QUIET_MS) {
    this.#hint = hint
    this.#quietMs = quietMs
  }

  /** Takes note of a long reply, or of notifications. */
  note(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < LARGE) return
    this.#hints = HINTS
    this.#isBusy = true
    this.#timer ??= this.#wait()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => this.#look(), this.#quietMs).unref()
  }

  #look(): void {
    if (!this.#isBusy) {
      this.#bytes = 0
      this.#hints -= 1
      this.#hint()
    }
    this.#isBusy = false
    this.#timer = this.#hints > 0 ? this.#wait() : undefined
  }
}
