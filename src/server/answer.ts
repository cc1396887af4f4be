// What answers messages, and what HTTP servers need besides.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { MaybePromise } from '../core/promises.ts'
import type { Dispatcher } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { JsonText } from '../rpc/jsontext.ts'
import type { Json } from '../rpc/schema.ts'
import type { Caller } from '../rpc/session.ts'
import type { SiteReply, SiteRequest } from '../rpc/site.ts'
import { writeError } from '../rpc/wire.ts'
import type { Relief } from './relief.ts'
import type { Refusal } from './replies.ts'

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

/** Takes the sockets of other chains that want a link. */
export interface LinkDoor {
  /** The path that they ask for. */
  readonly path: string
  /** @returns why this one is not taken; undefined: it was taken over */
  readonly take: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => Promise<string | undefined>
}

/** Answers requests that are not JSON-RPC. */
export interface Site {
  /** True for a target whose requests it answers. */
  readonly owns: (target: string) => boolean
  readonly answer: (request: SiteRequest) => Promise<SiteReply>
}

/** Where a request says that it goes to, and which page sends it. */
export interface CallerHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

/** Tells why a request with these headers is not taken; undefined when it is. */
export type CallerCheck = (headers: CallerHeaders) => Refusal | undefined

/** What a server of HTTP needs to answer requests. */
export interface HttpOptions<C> {
  readonly dispatcher: Dispatcher<C>
  readonly makeContext: (caller: Caller) => C
  /** Bytes of a request's body, and of a WebSocket message. */
  readonly bodyLimit: number
  /** What `GET /` and `GET /health` answer. */
  readonly info: () => Json
  readonly timeouts: Timeouts
  readonly checkCaller: CallerCheck
  /** Where links to other chains go; undefined: none are taken. */
  readonly links?: LinkDoor | undefined
  /** What answers besides JSON-RPC. */
  readonly site?: Site | undefined
  /** Told of long replies. */
  readonly relief: Relief
  /** Told of whatever is thrown and should not be. */
  readonly onBug: (error: unknown) => void
}

/** What a message is answered by: nothing for notifications. */
export type Reply = string | JsonText | undefined

/** Serves connections that others accepted. */
export interface HttpServer {
  /** Takes a connection over, with all bytes that have come and were not answered put back into it. */
  readonly take: (socket: Socket) => void
  /** Ends every connection at once. */
  readonly close: () => Promise<void>
}

/** Gives the reply to a message, at once where the method does. Never throws or rejects. */
export type Answer = (caller: Caller, message: Uint8Array) => MaybePromise<Reply>

/** Answers messages. Each has a context of its own: whether a server listens is asked anew. */
export function createAnswer<C>(
  options: Pick<HttpOptions<C>, 'dispatcher' | 'makeContext' | 'onBug'>,
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

/** How often connections are checked for being idle, in milliseconds. */
export function idleCheckMs({ headersMs, requestMs, idleMs }: Omit<Timeouts, 'stallMs'>): number {
  return Math.min(headersMs, requestMs, idleMs, 1_000)
}
