// Methods whose names are known before they are loaded: a program starts without most of what it can answer.

import type { MaybePromise } from '../core/promises.ts'
import type { JsonText } from './jsontext.ts'
import type { Example, Method, Param, Writes } from './method.ts'
import type { Encoder, Json, Notes } from './schema.ts'

/**
 * Stands for methods that are loaded when something besides their names is asked of one.
 * @param names words: of each method its name and its aliases, `eth_a=eth_b=eth_c`; one text, since lists of lists take
 *   a millisecond to make
 * @param load gives the methods, in the order of their names
 */
export function lateMethods<C>(
  names: string,
  load: () => readonly Method<C>[],
): readonly Method<C>[] {
  return names.split(' ').map((word, i) => {
    const [name = '', ...aliases] = word.split('=')
    return new LateMethod(name, aliases, () => load()[i])
  })
}

/** A class, since objects with getters of their own take ten times as long to make, and there are hundreds. */
class LateMethod<C> implements Method<C> {
  readonly name: string
  readonly aliases: readonly string[]
  readonly #load: () => Method<C> | undefined
  #method: Method<C> | undefined

  constructor(name: string, aliases: readonly string[], load: () => Method<C> | undefined) {
    this.name = name
    this.aliases = aliases
    this.#load = load
  }

  get summary(): string {
    return this.#loaded().summary
  }

  get params(): readonly Param<unknown>[] {
    return this.#loaded().params
  }

  get result(): Encoder<never> {
    return this.#loaded().result
  }

  get example(): Example {
    return this.#loaded().example
  }

  get unsupported(): string | undefined {
    return this.#loaded().unsupported
  }

  get writes(): Writes | undefined {
    return this.#loaded().writes
  }

  get hasSecrets(): boolean {
    return this.#loaded().hasSecrets
  }

  get isResultSecret(): boolean {
    return this.#loaded().isResultSecret
  }

  get tell(): Method<C>['tell'] {
    return this.#loaded().tell
  }

  run(context: C, params: readonly unknown[], notes?: Notes): MaybePromise<Json | JsonText> {
    return this.#loaded().run(context, params, notes)
  }

  #loaded(): Method<C> {
    if (this.#method !== undefined) return this.#method
    const method = this.#load()
    if (method?.name !== this.name) {
      throw new Error(`expected the method ${this.name}, got ${method?.name}`)
    }
    this.#method = method
    return method
  }
}
