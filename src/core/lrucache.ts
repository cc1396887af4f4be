// Maps of bounded size that forget what was used least lately, and results of functions kept in one.

/**
 * Remembers at least the last `size` distinct keys that were read or set, at most twice as many: two generations, of which
 * the older one is forgotten at once.
 */
export class LruCache<Key, Value> {
  readonly #generation: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(size: number) {
    this.#generation = size
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#generation && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}

/** The same pure function, with the results of at least the last `size` distinct inputs remembered, at most twice as many. */
export function memoize<Input, Output>(
  size: number,
  compute: (input: Input) => Output,
): (input: Input) => Output {
  const known = new LruCache<Input, Output>(size)
  return (input) => {
    const before = known.get(input)
    if (before !== undefined) return before
    const output = compute(input)
    known.set(input, output)
    return output
  }
}
