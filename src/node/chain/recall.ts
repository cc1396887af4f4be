// Which commands of a chain are given up as they run: those whose caller is gone, and those that a reset or a revert takes
// back.
import { DevchainError } from '../../core/errors.ts'
import type { IsAwaited } from '../../evm/executor.ts'

/** How a command is to be treated. */
export interface CommandOptions {
  /** False once nobody waits for what comes of it. Undefined: somebody always does. */
  readonly isAwaited?: IsAwaited | undefined
  /**
   * What this command makes of all before it, in words that go on from "the chain": "was reset". Those that still run
   * after a moment are given up, as nothing of them would be left.
   */
  readonly takesBack?: string | undefined
  /** The peer whose blocks it puts in place: listeners are told. */
  readonly peer?: string | undefined
}

/**
 * Pauses that commands make altogether, a few milliseconds of work between each two, before those that are taken back
 * are given up: what is done at once ends as though nobody had asked to take it back.
 */
const PATIENCE = 20

/** The commands of one chain, in the order in which they were asked for. */
export class Recall {
  #asked = 0
  /** The number of the command that runs, or ran last. */
  #running = -1
  /** Commands with lower numbers are taken back. */
  #before = -1
  #happened = ''
  #patience = 0
  #isClosed = false

  enter({ isAwaited, takesBack }: CommandOptions): Command {
    const number = this.#asked
    this.#asked += 1
    if (takesBack !== undefined) {
      // while another waits to take back, what is before both is on its last pauses already
      if (this.#running >= this.#before) this.#patience = PATIENCE
      this.#before = number
      this.#happened = takesBack
    }
    return new Command(this, number, isAwaited)
  }

  /** Something is read that is taken back with whatever was asked for before it. */
  read(isAwaited?: IsAwaited): Command {
    return new Command(this, this.#asked - 1, isAwaited)
  }

  /** A command begins: all before it have ended. */
  begin(number: number): void {
    this.#running = number
  }

  /** Every command is given up at its next pause. */
  close(): void {
    this.#isClosed = true
  }

  /** Asked when a command pauses. @returns what happened to the chain, where that gives the command up */
  reasonAgainst(number: number): string | undefined {
    if (this.#isClosed) return 'was closed'
    if (number >= this.#before) return undefined
    this.#patience -= 1
    return this.#patience < 0 ? this.#happened : undefined
  }
}

export class Command {
  readonly #recall: Recall
  readonly #number: number
  readonly #isCallerThere: IsAwaited | undefined
  #reason: string | undefined

  constructor(recall: Recall, number: number, isCallerThere: IsAwaited | undefined) {
    this.#recall = recall
    this.#number = number
    this.#isCallerThere = isCallerThere
  }

  /** False gives it up. */
  readonly isAwaited: IsAwaited = (gasUsed) => {
    if (this.#isCallerThere?.(gasUsed) === false) return false
    this.#reason = this.#recall.reasonAgainst(this.#number)
    return this.#reason === undefined
  }

  begin(): void {
    this.#recall.begin(this.#number)
  }

  /** An error that came out of it, in words that say what gave it up. */
  explained(error: unknown): unknown {
    const isGivenUp = error instanceof DevchainError && error.word === 'ABANDONED'
    if (!isGivenUp || this.#reason === undefined) return error
    const message = `the execution was given up: the chain ${this.#reason} while it ran`
    return new DevchainError('ABANDONED', message)
  }
}
