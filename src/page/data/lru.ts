// A map of bounded count and weight that forgets what was used longest ago.

export class Lru<Value> {
  readonly #most: number
  readonly #mostWeight: number
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  #weight = 0

  constructor(most: number, mostWeight: number) {
    this.#most = most
    this.#mostWeight = mostWeight
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: Value, weight: number): void {
    this.#remove(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most && this.#weight <= this.#mostWeight) return
      if (oldest !== key) this.#remove(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
