// Has the memory of large replies given back, once nobody asks for more.

/** Bytes of replies after which there is something to give back. */
const LARGE = 16 * 1024 * 1024

/** Milliseconds without a long reply: a server that is busy collects its garbage anyway. */
const QUIET_MS = 1_000

/** The first hint ends the collection that is under way, which keeps what was alive as it began; the second one the rest. */
const HINTS = 3

/** Bytes that V8 holds for pressure: more than the 64 MiB that it lets memory outside of its heap grow by. */
const PRESSURE = 128 * 1024 * 1024

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

/**
 * Lets V8 begin to collect beside other work, as it does when memory outside of its heap grows. Nothing is written to this
 * memory, so that the system gives none. `gc()` would hold everything up for as long as all that lives takes.
 * @returns the memory: what nobody takes, a compiler leaves out
 */
function hintAtPressure(): ArrayBuffer | undefined {
  try {
    return new ArrayBuffer(PRESSURE)
  } catch {
    // there is no room for it: then V8 knows
    return undefined
  }
}
