// Calls of functions at the other end of a connection between threads.
import {
  readError,
  sentError,
  type ThreadCall,
  type ThreadMessage,
  type ThreadPort,
} from './messages.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

type Functions<F> = { readonly [Name in keyof F]: (...values: never[]) => unknown }

export class Calls<Theirs extends Functions<Theirs>, Own extends Functions<Own>> {
  readonly #port: ThreadPort
  readonly #functions: Own
  readonly #pending = new Map<number, Pending>()
  #nextId = 1

  /** @param functions that the other end may call */
  constructor(port: ThreadPort, functions: Own) {
    this.#port = port
    this.#functions = functions
    port.on('message', (message) => this.#take(message))
  }

  /** Rejects as the function does. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...values: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const id = this.#nextId++
    this.#port.postMessage({ kind: 'call', id, name, values })
    return new Promise((resolve, reject) =>
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject }),
    )
  }

  /** Calls a function whose result nobody needs. */
  send<Name extends keyof Theirs & string>(name: Name, ...values: Parameters<Theirs[Name]>): void {
    this.#port.postMessage({ kind: 'call', name, values })
  }

  /** A call from the other end, or the result of one from here. */
  #take(message: ThreadMessage): void {
    if (message.kind === 'call') {
      const { id } = message
      if (id === undefined) this.#run(message)
      else void this.#answer(id, message)
      return
    }
    const { id, result, failure } = message
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (failure === undefined) pending?.resolve(result)
    else pending?.reject(readError(failure))
  }

  #run({ name, values }: ThreadCall): unknown {
    return this.#functions[name as keyof Own](...(values as never[]))
  }

  async #answer(id: number, call: ThreadCall): Promise<void> {
    try {
      this.#port.postMessage({ kind: 'result', id, result: await this.#run(call) })
    } catch (error) {
      this.#port.postMessage({ kind: 'result', id, failure: sentError(error) })
    }
  }

  /** The other end is gone. */
  fail(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
