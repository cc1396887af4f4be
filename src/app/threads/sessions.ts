// WebSocket sessions as chains in another thread see them: notifications go to the main thread, which writes them.
import type { Json } from '../../rpc/schema.ts'
import { Caller, type Notifications, type Session } from '../../rpc/session.ts'
import type { Calls } from './calls.ts'
import type { MainFunctions, ThreadFunctions } from './messages.ts'

/**
 * Notifications that the main thread may have unwritten: more than it allows a client that reads nothing, so that its rule
 * for such clients holds. The rest is made when these are written.
 */
const WINDOW = 2_000

/** Notifications in one message. */
const AT_ONCE = 100

/** Entries looked at before other work gets a turn: most may be skipped. */
const IN_A_ROW = 10_000

/** Changes of a chain that wait for a client, however fast it reads. */
const MAX_CHANGES = 100_000

interface Waiting {
  readonly method: string
  readonly rest: Iterator<Json | undefined>
}

export class RemoteSession implements Session {
  readonly id: number
  readonly isPage: boolean
  readonly caller: Caller
  readonly #main: Calls<MainFunctions, ThreadFunctions>
  readonly #listeners = new Set<() => void>()
  #waiting: Waiting[] = []
  #unwritten = 0
  #hasEnded = false
  #isScheduled = false

  constructor(id: number, isPage: boolean, main: Calls<MainFunctions, ThreadFunctions>) {
    this.id = id
    this.isPage = isPage
    this.#main = main
    this.caller = new Caller(this)
  }

  notify(method: string, { params }: Notifications): void {
    if (this.#hasEnded) return
    this.#waiting.push({ method, rest: params[Symbol.iterator]() })
    if (this.#waiting.length > MAX_CHANGES) {
      this.cutOff()
    } else if (!this.#isScheduled) this.#send()
  }

  hold(): void {
    this.#main.send('hold', this.id)
  }

  onClose(listener: () => void): void {
    if (this.#hasEnded) listener()
    else this.#listeners.add(listener)
  }

  cutOff(): void {
    this.#main.send('cutOff', this.id)
    this.end()
  }

  /** The main thread has written notifications. */
  wasRead(count: number): void {
    this.#unwritten -= count
    if (!this.#isScheduled) this.#send()
  }

  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.caller.hangUp()
    for (const { rest } of this.#waiting.splice(0)) rest.return?.()
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  #send(): void {
    let looked = 0
    while (this.#unwritten < WINDOW) {
      const next = this.#waiting[0]
      if (next === undefined) return
      const params: Json[] = []
      let isDone = false
      while (!isDone && params.length < AT_ONCE && looked < IN_A_ROW) {
        const { value, done } = next.rest.next()
        looked += 1
        isDone = done === true
        if (!isDone && value !== undefined) params.push(value)
      }
      if (isDone) this.#waiting.shift()
      if (params.length > 0) {
        this.#unwritten += params.length
        this.#main.send('notify', this.id, next.method, params)
      }
      if (looked < IN_A_ROW) continue
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#send()
      })
      return
    }
  }
}
