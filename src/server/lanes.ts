// What the fast and the slow lane of the server have in common.
import type { MaybePromise } from '../core/promises.ts'
import type { Dispatcher } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { JsonText } from '../rpc/jsontext.ts'
import type { Json } from '../rpc/schema.ts'
import type { Caller } from '../rpc/session.ts'
import { writeError } from '../rpc/wire.ts'
import type { HostCheck } from './hosts.ts'
import type { Relief } from './relief.ts'

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  /** Headers and body. */
  readonly requestMs: number
  /** Between two requests of one connection. */
  readonly idleMs: number
  /** Until a WebSocket client reads some of the many notifications that wait for it. */
  readonly stallMs: number
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
  /** Told of long replies. */
  readonly relief: Relief
  /** Told of whatever is thrown and should not be. */
  readonly onBug: (error: unknown) => void
}

/** What a message is answered by: nothing for notifications. */
export type Reply = string | JsonText | undefined

/** Gives the reply to a message, at once where the method does. Never throws or rejects. */
export type Answer = (caller: Caller, message: Uint8Array) => MaybePromise<Reply>

/** Answers messages. Each has a context of its own: whether a server listens is asked anew. */
export function answering<C>(
  options: Pick<LaneOptions<C>, 'dispatcher' | 'makeContext' | 'onBug'>,
): Answer {
  const { dispatcher, makeContext, onBug } = options
  return (caller, message) => {
    try {
      return dispatcher.dispatch(makeContext(caller), message)
    } catch (error) {
      return writeError(null, errorObjectOf(error, onBug))
    }
  }
}

/** How often connections are looked at, in milliseconds. */
export function checkingIntervalMs({
  headersMs,
  requestMs,
  idleMs,
}: Omit<Timeouts, 'stallMs'>): number {
  return Math.min(headersMs, requestMs, idleMs, 1_000)
}
