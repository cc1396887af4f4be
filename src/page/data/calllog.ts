// The calls of all other clients of this chain, as they come, from the first look at the log on.
import { lazy } from '../../core/lrucache.ts'
import { client } from './chain.ts'

export interface LoggedCall {
  readonly id: number
  /** Milliseconds since 1970, of this browser. */
  readonly at: number
  readonly method: string
  readonly params: unknown
  readonly durationMs: number
  readonly result: unknown
  readonly error: { readonly code: number; readonly message: string } | null
  /** The call in words; null if no name is known. */
  readonly text: string | null
}

type CallNews = Omit<LoggedCall, 'id' | 'at'> & Readonly<{ console: readonly string[] }>

const MOST_CALLS = 5_000

/** Milliseconds between two drawings. */
const BETWEEN_MS = 150

/** A console line has an entry of its own, after its call. */
const PRINTED = { method: 'console.log', params: [], durationMs: 0, result: '', error: null }

/** Sends `change` when calls came. */
class CallLog extends EventTarget {
  #count = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Oldest first. */
  calls: LoggedCall[] = []

  constructor() {
    super()
    client.subscribe('calls', (news) => this.#take(news as CallNews))
  }

  clear(): void {
    this.calls = []
    this.#announce()
  }

  #take({ console: printed, ...call }: CallNews): void {
    const at = Date.now()
    const lines = printed.map((text) => ({ ...PRINTED, text }))
    for (const each of [call, ...lines]) this.calls.push({ ...each, id: ++this.#count, at })
    // the oldest tenth at once, not one for each call
    if (this.calls.length > MOST_CALLS * 1.1) this.calls = this.calls.slice(-MOST_CALLS)
    this.#timer ??= setTimeout(() => this.#announce(), BETWEEN_MS)
  }

  #announce(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.dispatchEvent(new Event('change'))
  }
}

/** Begins with the first look. */
export const callLog: () => CallLog = lazy(() => new CallLog())
