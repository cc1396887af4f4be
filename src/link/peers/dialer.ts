// Keeps a link to one node up: it dials again when there is none, after waits that grow.
import type { Pipe } from '../protocol/pipe.ts'
import type { Timing } from '../protocol/timing.ts'

/** The first wait, and the longest; each twice as long as the one before. */
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/** Failures after which waits grow no more. */
const WAITS = 10

/** How far waits are apart: nodes that lost each other would else dial at the same moments for ever. */
const JITTER = 0.5

export interface DialerOptions {
  readonly timing: Timing
  readonly dial: () => Promise<Pipe>
  /** True: there is a link to that node already, however it came to be, or none is wanted now. */
  readonly isLinked: () => boolean
  /** A connection is there. @returns called once it ends: true where the peer was taken meanwhile */
  readonly connected: (pipe: Pipe) => Promise<boolean>
  /** Told of the first failure after each success. */
  readonly failed: (reason: string) => void
}

export class Dialer {
  readonly #options: DialerOptions
  #failures = 0
  #stopTimer: (() => void) | undefined
  #isEnded = false
  #isDialing = false
  /** True once it is known what became of the first attempt. */
  wasTried = false

  constructor(options: DialerOptions) {
    this.#options = options
  }

  /** Dials now, whatever the wait. */
  start(): void {
    this.#stopTimer?.()
    this.#failures = 0
    if (!this.#isDialing) void this.#dial()
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
        // whoever ends that link starts the dialer anew
        this.#failures = WAITS
        return
      }
      const pipe = await dial()
      const wasTaken = await connected(pipe)
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
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, WAITS))
    const spread = wait * (1 - JITTER * timing.chance())
    this.#stopTimer = timing.after(spread, () => void this.#dial())
  }
}

/** What a connection failed of, without what the user knows. */
function reasonOf(error: unknown): string {
  const { code, message, errors } = error as NodeJS.ErrnoException & AggregateError
  if (code === 'ECONNREFUSED') return 'nobody listens there'
  if (message !== '') return message
  return errors?.[0]?.message ?? code ?? 'no connection'
}
