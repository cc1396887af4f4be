// What the fast and the slow lane of the server have in common.
import type { Dispatcher } from '../rpc/dispatch.ts'
import type { Json } from '../rpc/schema.ts'
import type { Caller } from '../rpc/session.ts'
import type { HostCheck } from './hosts.ts'

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  /** Headers and body. */
  readonly requestMs: number
  /** Between two requests of one connection. */
  readonly idleMs: number
}

/** What a lane needs to answer requests. */
export interface LaneOptions<C> {
  readonly dispatcher: Dispatcher<C>
  readonly makeContext: (caller: Caller) => C
  /** Bytes of a request's body, and of a WebSocket message. */
  readonly bodyLimit: number
  /** What `GET /` and `GET /health` answer. */
  readonly info: () => Json
  readonly timeouts: Timeouts
  readonly checkHost: HostCheck
}

/** How often connections are looked at, in milliseconds. */
export function checkingIntervalMs({ headersMs, requestMs, idleMs }: Timeouts): number {
  return Math.min(headersMs, requestMs, idleMs, 1_000)
}
