// Chance that can be repeated: the same seed gives the same numbers.

/** Numbers from a seed (the generator sfc32). */
export class Random {
  readonly #state: Uint32Array

  constructor(seed: number) {
    this.#state = Uint32Array.of(0x9e3779b9, seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 1)
    for (let i = 0; i < 15; i += 1) this.#next()
  }

  /** From 0 to below a limit. */
  below(limit: number): number {
    return this.#next() % limit
  }

  /** From a number to another, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True so many times in a hundred. */
  percent(chance: number): boolean {
    return this.below(100) < chance
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** One of a list of which each comes as often as its weight says. */
  weighted<T>(list: readonly (readonly [weight: number, item: T])[]): T {
    const total = list.reduce((sum, [weight]) => sum + weight, 0)
    let left = this.below(total)
    for (const [weight, item] of list) {
      if (left < weight) return item
      left -= weight
    }
    throw new Error('a list without items has none to give')
  }

  /** So many bytes as hex digits. */
  digits(length: number): string {
    return Array.from({ length }, () => this.below(256).toString(16).padStart(2, '0')).join('')
  }

  #next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = this.#state
    const result = (a + b + counter) >>> 0
    this.#state.set([
      b ^ (b >>> 9),
      (c + (c << 3)) >>> 0,
      ((c << 21) | (c >>> 11)) + result,
      counter + 1,
    ])
    return result
  }
}
