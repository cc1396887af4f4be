// Keeps a link to one node: redials when it is lost, with growing waits.
import type { Pipe } from '../protocol/pipe.ts'
import type { Timing } from '../protocol/timing.ts'

/** Milliseconds: the first wait and the longest; each is twice the one before. */
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/** Failures after which waits stop growing. */
const WAITS = 10

/** Spreads waits, as nodes that lost each other would otherwise always dial at the same moment. */
const JITTER = 0.5

export interface DialerOptions {
  readonly timing: Timing
  readonly dial: () => Promise<Pipe>
  /** True: the node is linked, by whichever side, or no link is wanted now. */
  readonly isLinked: () => boolean
  /** @returns resolves at the end of the connection: true if the peer was taken */
  readonly connected: (pipe: Pipe) => Promise<boolean>
  /** Called for the first failure after each success. */
  readonly failed: (reason: string) => void
}

export class Dialer {
  readonly #options: DialerOptions
  #failures = 0
  /** Links in a row that ended soon: nodes that cannot get on would otherwise link and part all the time. */
  #shortLinks = 0
  #stopTimer: (() => void) | undefined
  #isEnded = false
  #isDialing = false
  /** True once the first attempt has succeeded or failed. */
  wasTried = false

  constructor(options: DialerOptions) {
    this.#options = options
  }

  /** Dials at once. */
  start(): void {
    this.#stopTimer?.()
    this.#failures = 0
    this.#shortLinks = 0
    if (!this.#isDialing) void this.#dial()
  }

  /** The link ended, whichever side had dialed. */
  lost(lastedMs: number): void {
    this.#failures = 0
    this.#shortLinks = lastedMs < LONGEST_WAIT_MS ? this.#shortLinks + 1 : 0
    if (this.#isDialing) return
    this.#stopTimer?.()
    this.#wait()
  }

  end(): void {
    this.#isEnded = true
    this.#stopTimer?.()
  }

  async #dial(): Promise<void> {
    const { dial, isLinked, connected, failed } = this.#options
    this.#isDialing = true
    try {
      if (isLinked() || this.#isEnded) {
        // the end of that link is reported to the dialer
        this.#failures = WAITS
        return
      }
      const wasTaken = await connected(await dial())
      this.#failures = wasTaken ? 0 : this.#failures + 1
    } catch (error) {
      if (this.#failures === 0 && !this.#isEnded) failed(reasonOf(error))
      this.#failures += 1
    } finally {
      this.wasTried = true
      this.#isDialing = false
      this.#wait()
    }
  }

  #wait(): void {
    if (this.#isEnded) return
    const { timing } = this.#options
    const doublings = Math.min(this.#failures + Math.max(0, this.#shortLinks - 1), WAITS)
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** doublings)
    const spread = wait * (1 - JITTER * timing.chance())
    this.#stopTimer = timing.after(spread, () => void this.#dial())
  }
}

/** Leaves out what the user knows. */
function reasonOf(error: unknown): string {
  const { code, message, errors } = error as NodeJS.ErrnoException & AggregateError
  if (code === 'ECONNREFUSED') return 'nobody listens there'
  if (message !== '') return message
  return errors?.[0]?.message ?? code ?? 'no connection'
}
