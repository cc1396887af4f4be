// What a command's transactions reach, gathered until the command is known to hold.
import type { ReachedCode, Tracer } from '../../evm/executor.ts'

/** Who is told what calls and transactions reached. */
export type OnReached = (reached: readonly ReachedCode[]) => void

/** Gathers for one command, which may begin anew. */
export class Reaching {
  readonly #listener: OnReached
  #all: ReachedCode[] = []
  readonly tracer: Tracer = {
    onReached: (reached) => this.#all.push(...reached),
  }

  constructor(listener: OnReached) {
    this.#listener = listener
  }

  /** Forgets what an attempt reached that came to nothing. */
  begin(): void {
    this.#all = []
  }

  /** The command is done. */
  tell(): void {
    if (this.#all.length > 0) this.#listener(this.#all)
  }
}
