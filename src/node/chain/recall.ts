// Cancellation of running commands: when the caller is gone, or a reset or revert discards their effect.
import { DevchainError } from '../../core/errors.ts'
import type { IsAwaited } from '../../evm/executor.ts'

export interface CommandOptions {
  /** False once nobody waits for the result. Undefined: somebody always does. */
  readonly isAwaited?: IsAwaited | undefined
  /** Completes "the chain …" ("was reset"): set if this command discards, and so cancels, all before it. */
  readonly takesBack?: string | undefined
  readonly peer?: string | undefined
}

/** Total pauses, a few milliseconds apart, before a discard cancels running commands: short ones finish normally. */
const PATIENCE = 20

export class Recall {
  #asked = 0
  #running = -1
  #before = -1
  #happened = ''
  #patience = 0
  #isClosed = false

  enter({ isAwaited, takesBack }: CommandOptions): Command {
    const number = this.#asked
    this.#asked += 1
    if (takesBack !== undefined) {
      // while another discard waits, commands before both already use up their last pauses
      if (this.#running >= this.#before) this.#patience = PATIENCE
      this.#before = number
      this.#happened = takesBack
    }
    return new Command(this, number, isAwaited)
  }

  /** Registers a read, which a later discard cancels too. */
  read(isAwaited?: IsAwaited): Command {
    return new Command(this, this.#asked - 1, isAwaited)
  }

  begin(number: number): void {
    this.#running = number
  }

  /** Cancels every command at its next pause. */
  close(): void {
    this.#isClosed = true
  }

  /** Called when a command pauses. Returns what happened to the chain, if that cancels the command. */
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

  readonly isAwaited: IsAwaited = (gasUsed) => {
    if (this.#isCallerThere?.(gasUsed) === false) return false
    this.#reason = this.#recall.reasonAgainst(this.#number)
    return this.#reason === undefined
  }

  begin(): void {
    this.#recall.begin(this.#number)
  }

  /** Rewrites a cancellation error to say what caused it. */
  explained(error: unknown): unknown {
    const isGivenUp = error instanceof DevchainError && error.word === 'ABANDONED'
    if (!isGivenUp || this.#reason === undefined) return error
    const message = `the execution was given up: the chain ${this.#reason} while it ran`
    return new DevchainError('ABANDONED', message)
  }
}
