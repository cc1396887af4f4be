// Maps of bounded size that drop what was least recently used, and memoized functions.

export interface Weights<Value> {
  readonly most: number
  readonly of: (value: Value) => number
}

/**
 * Keeps at least the last `size` keys read or set, at most twice as many: two generations, the older of which is dropped as a
 * whole. A generation is also full when it reaches its weight.
 */
export class LruCache<Key, Value> {
  readonly #generation: number
  readonly #weights: Weights<Value> | undefined
  #weight = 0
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(size: number, weights?: Weights<Value>) {
    this.#generation = size
    this.#weights = weights
  }

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
    const isFull = this.#young.size >= this.#generation && !this.#young.has(key)
    if (isFull || this.#weight >= (this.#weights?.most ?? Infinity)) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    if (this.#weights !== undefined) this.#weigh(key, value, this.#weights)
    this.#young.set(key, value)
  }

  #weigh(key: Key, value: Value, { of }: Weights<Value>): void {
    const before = this.#young.get(key)
    this.#weight += of(value) - (before === undefined ? 0 : of(before))
  }
}

/** For a map with more than `most` entries: removes the one that was set first. */
export function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  if (map.size > most) map.delete(map.keys().next().value!)
}

/** Caches the results of a pure function for at least the last `size` inputs, at most twice as many. */
export function memoize<Input, Output>(
  size: number,
  compute: (input: Input) => Output,
): (input: Input) => Output {
  return memoized(new LruCache<Input, Output>(size), compute)
}

/** Caches a result for as long as its input is reachable. */
export function memoizeByIdentity<Input extends object, Output>(
  compute: (input: Input) => Output,
): (input: Input) => Output {
  return memoized(new WeakMap<Input, Output>(), compute)
}

interface Results<Input, Output> {
  get(input: Input): Output | undefined
  set(input: Input, output: Output): unknown
}

/** A result of `undefined` is computed again. */
function memoized<Input, Output>(
  known: Results<Input, Output>,
  compute: (input: Input) => Output,
): (input: Input) => Output {
  return (input) => getOrMake(known, input, compute)
}

/** The value of a key in a map, made and set if there is none. */
export function getOrMake<Key, Value>(
  map: Results<Key, Value>,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make(key)
  map.set(key, made)
  return made
}

/** Computes a value on first use. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly of: T } | undefined
  return () => {
    made ??= { of: make() }
    return made.of
  }
}
