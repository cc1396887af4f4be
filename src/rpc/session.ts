// Callers, who may disconnect, and sessions, over which the chain sends notifications.
import type { Cancellation } from '../evm/cancellation.ts'
import type { Json } from './schema.ts'

/** Notifications of one method, each made when it is sent. */
export interface Notifications {
  readonly most: number
  /** `undefined` entries are skipped; other work may get a turn there. */
  readonly params: Iterable<Json | undefined>
}

export interface Session {
  readonly id: number
  /** Opened by the page that this server sends to browsers. */
  readonly isPage: boolean
  /** Sends notifications after earlier ones, as fast as the client reads, unless the session has ended. */
  notify(method: string, notifications: Notifications): void
  /**
   * Holds notifications back until the reply to the current message is sent: clients drop those of a subscription whose id they
   * do not know yet, and a batch may cause some.
   */
  hold(): void
  /** Calls `listener` once, at the session's end; at once if it has ended. */
  onClose(listener: () => void): void
  /** Disconnects a client that is too slow for its notifications. */
  cutOff(): void
}

/** Waits for replies: one per connection, and one for all in-process requests. */
export class Caller {
  /** The WebSocket connection; undefined for HTTP and in-process requests. */
  readonly session: Session | undefined
  /** True once the client has disconnected. */
  aborted = false
  /** Made for the first listener, as most callers have none. */
  #listeners: Set<() => void> | undefined

  constructor(session?: Session) {
    this.session = session
  }

  hangUp(): void {
    this.aborted = true
    for (const listener of this.#listeners ?? []) listener()
    this.#listeners?.clear()
  }

  /** @returns removes the listener */
  onHangUp(listener: () => void): () => void {
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => this.#listeners?.delete(listener)
  }
}

/** The caller of one message, with its progress. A disconnect cancels the work for it, and so does a reset of the chain. */
export class MessageCaller implements Cancellation {
  readonly #caller: Caller
  #chain: Cancellation | undefined
  /** Set by the first pause. */
  isRunning = false
  /** As last reported by the work. */
  gasUsed: bigint | undefined

  constructor(caller: Caller) {
    this.#caller = caller
  }

  get session(): Session | undefined {
    return this.#caller.session
  }

  get aborted(): boolean {
    return this.#caller.aborted || this.#chain?.aborted === true
  }

  get event(): string | undefined {
    return this.#chain?.event
  }

  onPause(gasUsed?: bigint): void {
    this.isRunning = true
    this.gasUsed = gasUsed
    this.#chain?.onPause?.(gasUsed)
  }

  /** Resets the progress for the next request of a batch. @param chain aborted when the chain is reset or closed */
  begin(chain: Cancellation): void {
    this.#chain = chain
    this.isRunning = false
    this.gasUsed = undefined
  }
}
