// Calls of functions at the other end of a connection between threads.
import type { ThreadCall, ThreadResult } from './messages.ts'
import { readError, sentError } from './messages.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export type Functions = Readonly<Record<string, (...values: never[]) => unknown>>

export class Calls {
  readonly #post: (message: ThreadCall | ThreadResult) => void
  readonly #functions: Functions
  readonly #pending = new Map<number, Pending>()
  #nextId = 1

  /** @param functions that the other end may call */
  constructor(post: (message: ThreadCall | ThreadResult) => void, functions: Functions) {
    this.#post = post
    this.#functions = functions
  }

  /** Rejects as the function does. */
  call(name: string, ...values: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++
    this.#post({ kind: 'call', id, name, values })
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  /** A call from the other end, or the result of one from here. */
  take(message: ThreadCall | ThreadResult): void {
    if (message.kind === 'call') void this.#answer(message)
    else this.#settle(message)
  }

  async #answer({ id, name, values }: ThreadCall): Promise<void> {
    try {
      const result = await this.#functions[name]?.(...(values as never[]))
      this.#post({ kind: 'result', id, result })
    } catch (error) {
      this.#post({ kind: 'result', id, failure: sentError(error) })
    }
  }

  #settle({ id, result, failure }: ThreadResult): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (failure === undefined) pending?.resolve(result)
    else pending?.reject(readError(failure))
  }

  /** The other end is gone. */
  fail(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
