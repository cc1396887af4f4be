// A session: a connection that stays open, over which the chain may say something unasked.
import type { Json } from './schema.ts'

export interface Session {
  /** Counts the sessions of a server. */
  readonly id: number
  /** Sends a notification, unless the session has ended. */
  notify(method: string, params: Json): void
  /** Calls `listener` once, when the session ends; at once when it has ended already. */
  onClose(listener: () => void): void
}
