// Who watches the transactions of commands: what they reach, and whatever else a tracer hears, is told once a command holds.
// Runs are watched as users know them: a transaction that comes from one block into another is run again, and was watched.
import type { ReachedCode, Tracer } from '../../evm/executor.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'

/** Watches the transactions of one command. */
export interface CommandWatch {
  readonly tracer: Tracer
  /** The command begins, or begins anew: what was heard before came to nothing. */
  readonly begin: () => void
  /** The command holds. */
  readonly tell: () => void
}

/** Several as one; undefined for none. */
export function watchedBy(makers: readonly (() => CommandWatch)[]): CommandWatch | undefined {
  if (makers.length === 0) return undefined
  const watches = makers.map((make) => make())
  return {
    tracer: combineTracers(watches.map(({ tracer }) => tracer)),
    begin: () => {
      for (const watch of watches) watch.begin()
    },
    tell: () => {
      for (const watch of watches) watch.tell()
    },
  }
}

/** Who is told what calls and transactions reached. */
export type OnReached = (reached: readonly ReachedCode[]) => void

/** Gathers what the transactions of a command reach. */
export class Reaching implements CommandWatch {
  readonly #listener: OnReached
  #all: ReachedCode[] = []
  readonly tracer: Tracer = {
    onReached: (reached) => this.#all.push(...reached),
  }

  constructor(listener: OnReached) {
    this.#listener = listener
  }

  begin(): void {
    this.#all = []
  }

  tell(): void {
    if (this.#all.length > 0) this.#listener(this.#all)
  }
}
