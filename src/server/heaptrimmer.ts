// Frees the memory of large replies once requests stop.
import { hintAtPressure } from '../core/yield.ts'

/** Bytes of replies after which memory is worth freeing. */
const LARGE = 16 * 1024 * 1024

/** Milliseconds without a long reply: a busy server collects garbage anyway. */
const QUIET_MS = 1_000

/** The first hint ends the collection in progress, which keeps what was alive when it began; the second collects the rest. */
const HINTS = 3

/** V8 grows its heap for a large reply, and does not shrink it while nothing happens. */
export class HeapTrimmer {
  readonly #hint: () => unknown
  readonly #quietMs: number
  #bytes = 0
  /** True if something was replied since the timer was set. */
  #isBusy = false
  #hints = 0
  #timer: NodeJS.Timeout | undefined

  constructor(hint: () => unknown = hintAtPressure, quietMs: number = QUIET_MS) {
    this.#hint = hint
    this.#quietMs = quietMs
  }

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
