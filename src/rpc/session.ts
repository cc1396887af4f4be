// Callers, who may disconnect, and sessions, over which the chain sends notifications.
import type { Json } from './schema.ts'

/** Notifications of one method, each made when it is sent. */
export interface Notifications {
  readonly most: number
  /** `undefined` entries are skipped; other work may get a turn there. */
  readonly params: Iterable<Json | undefined>
}

export interface Session {
  readonly id: number
  /** Sends notifications after earlier ones, as fast as the client reads, unless the session has ended. */
  notify(method: string, notifications: Notifications): void
  /** Calls `listener` once, at the session's end; at once if it has ended. */
  onClose(listener: () => void): void
}

/** Waits for replies: one per connection, and one for all in-process requests. */
export class Caller {
  /** The WebSocket connection; undefined for HTTP and in-process requests. */
  readonly session: Session | undefined
  #isGone = false
  #controller: AbortController | undefined

  constructor(session?: Session) {
    this.session = session
  }

  /**
   * Aborted when the client disconnects. It lives as long as the connection, so remove listeners after use.
   * Made on first use: an AbortController costs more than most calls.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isGone) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** False after a disconnect. One function per connection, to be passed on and called often. */
  readonly isWaiting = (): boolean => !this.#isGone

  hangUp(): void {
    this.#isGone = true
    this.#controller?.abort()
  }
}

/** The caller of one message, with its progress. */
export class MessageCaller {
  readonly #caller: Caller
  /** Set by the first check for a disconnect, which long work makes often. */
  isRunning = false
  /** As last reported by the work. */
  gasUsed: bigint | undefined

  constructor(caller: Caller) {
    this.#caller = caller
  }

  get session(): Session | undefined {
    return this.#caller.session
  }

  get signal(): AbortSignal {
    return this.#caller.signal
  }

  readonly isWaiting = (gasUsed?: bigint): boolean => {
    this.isRunning = true
    this.gasUsed = gasUsed
    return this.#caller.isWaiting()
  }

  /** Resets the progress for the next request of a batch. */
  begin(): void {
    this.isRunning = false
    this.gasUsed = undefined
  }
}
