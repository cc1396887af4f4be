// Who asks: a caller that may hang up, and a session, over which the chain may say something unasked.
import type { Json } from './schema.ts'

/** Notifications of one method, each made when it is sent. */
export interface Notifications {
  /** How many there are at most. */
  readonly most: number
  /** `undefined` stands for one that is not wanted: others may have their turn there. */
  readonly params: Iterable<Json | undefined>
}

export interface Session {
  /** Counts the sessions of a server. */
  readonly id: number
  /** Sends notifications, after those that it was given before and as fast as they are read, unless the session has ended. */
  notify(method: string, notifications: Notifications): void
  /** Calls `listener` once, when the session ends; at once when it has ended already. */
  onClose(listener: () => void): void
}

/** Who waits for replies: one for each connection, and one for the whole process that asks without a connection. */
export class Caller {
  /** The connection, where it is a WebSocket; undefined for HTTP and in-process requests. */
  readonly session: Session | undefined
  #isGone = false
  #controller: AbortController | undefined

  constructor(session?: Session) {
    this.session = session
  }

  /**
   * Aborted once nobody waits for replies any more. It lives as long as the connection: who adds a listener takes it
   * away again. Made when it is first asked for: an AbortController costs more than most calls.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isGone) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** False once nobody waits for replies any more. One function for each connection, to be handed on and asked often. */
  readonly isWaiting = (): boolean => !this.#isGone

  /** The connection is gone. */
  hangUp(): void {
    this.#isGone = true
    this.#controller?.abort()
  }
}

/** The caller of one message. What is done for it notes here how far it has come. */
export class MessageCaller {
  readonly #caller: Caller
  /** True once it is asked whether somebody still waits: what runs long asks that often. */
  isRunning = false
  /** As the work said last. */
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

  /** The next request of the message begins, where it has several. */
  begin(): void {
    this.isRunning = false
    this.gasUsed = undefined
  }
}
