// Resets and reverts discard the effect of commands before them, and so cancel those that still run.
import type { Cancellation } from '../../evm/cancellation.ts'

export interface CommandOptions {
  readonly cancellation?: Cancellation | undefined
  /** Completes "the chain …" ("was reset"): set if this command discards, and so cancels, all before it. */
  readonly discards?: string | undefined
  /** True if it also cancels what only reads: a revert leaves the blocks that are read. */
  readonly endsReads?: boolean | undefined
  readonly peer?: string | undefined
}

/** Total pauses, a few milliseconds apart, before a discard cancels running commands: short ones finish normally. */
const PATIENCE = 20

export class Discards {
  #entered = 0
  #running = -1
  #before = -1
  #readsBefore = -1
  #happened = ''
  #patience = 0
  #isClosed = false

  enter({ cancellation, discards, endsReads }: CommandOptions): Command {
    const number = this.#entered
    this.#entered += 1
    if (discards !== undefined) {
      // while another discard waits, commands before both already use up their last pauses
      if (this.#running >= this.#before) this.#patience = PATIENCE
      this.#before = number
      if (endsReads === true) this.#readsBefore = number
      this.#happened = discards
    }
    return new Command(this, number, cancellation)
  }

  /** Registers the work for a later state, which any later discard cancels. */
  draft(cancellation: Cancellation): Command {
    return new Command(this, this.#entered - 1, cancellation)
  }

  /** Registers a read, which a later reset cancels. */
  read(): Command {
    return new Command(this, this.#entered - 1, undefined, true)
  }

  begin(number: number): void {
    this.#running = number
  }

  /** Cancels every command at its next pause. */
  close(): void {
    this.#isClosed = true
  }

  /** Called when a command pauses. Returns what happened to the chain, if that cancels the command. */
  reasonAgainst(number: number, isRead: boolean): string | undefined {
    if (this.#isClosed) return 'was closed'
    if (number >= (isRead ? this.#readsBefore : this.#before)) return undefined
    this.#patience -= 1
    return this.#patience < 0 ? this.#happened : undefined
  }
}

/** A command or a read, cancelled with its caller or by a discard. */
export class Command implements Cancellation {
  readonly #discards: Discards
  readonly #number: number
  readonly #caller: Cancellation | undefined
  readonly #isRead: boolean
  #event: string | undefined

  constructor(
    discards: Discards,
    number: number,
    caller: Cancellation | undefined,
    isRead = false,
  ) {
    this.#isRead = isRead
    this.#discards = discards
    this.#number = number
    this.#caller = caller
  }

  get aborted(): boolean {
    return this.#event !== undefined || this.#caller?.aborted === true
  }

  get event(): string | undefined {
    return this.#event ?? this.#caller?.event
  }

  onPause(gasUsed?: bigint): void {
    this.#caller?.onPause?.(gasUsed)
    this.#event = this.#discards.reasonAgainst(this.#number, this.#isRead)
  }

  begin(): void {
    this.#discards.begin(this.#number)
  }
}
