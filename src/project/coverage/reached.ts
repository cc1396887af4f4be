// Collects the coverage of one command's transactions, and reports it once the command has succeeded.
import type { ReachedCode, Tracer } from '../../evm/executor.ts'
import type { CommandWatch } from '../../node/chain/execution.ts'

export class ReachedWatch implements CommandWatch {
  readonly #listener: (reached: readonly ReachedCode[]) => void
  #all: ReachedCode[] = []
  readonly tracer: Tracer = {
    onReached: (reached) => this.#all.push(...reached),
  }

  constructor(listener: (reached: readonly ReachedCode[]) => void) {
    this.#listener = listener
  }

  begin(): void {
    this.#all = []
  }

  report(): void {
    if (this.#all.length > 0) this.#listener(this.#all)
  }
}
