// Who answers what comes in: chains by their paths, and sites beside them.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { MaybePromise } from '../core/promises.ts'
import type { Reply } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { Caller } from '../rpc/session.ts'
import type { Site } from '../rpc/site.ts'
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

/** Answers messages: a chain, as a server sees it. */
export interface Target {
  /** Gives the reply to a message, at once where the method does. What it throws is a bug. */
  readonly answer: (caller: Caller, message: Uint8Array) => MaybePromise<Reply>
}

/** Who answers what. */
export interface Front {
  /** Asked for each request, and once for a WebSocket: by its path, without query and last `/`. */
  readonly targetOf: (path: string) => Target | Refusal
  /** What answers besides JSON-RPC; the first that owns a request has it. */
  readonly sites: readonly Site[]
  /** Where links to other chains go; undefined: none are taken. */
  readonly links?: LinkDoor | undefined
}

/** Where a request says that it goes to, and which page sends it. */
export interface CallerHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

/** Tells why a request with these headers is not taken; undefined when it is. */
export type CallerCheck = (headers: CallerHeaders) => Refusal | undefined

/** What a server of HTTP needs to answer requests. */
export interface HttpOptions {
  readonly front: Front
  /** Bytes of a request's body, and of a WebSocket message. */
  readonly bodyLimit: number
  readonly timeouts: Timeouts
  readonly checkCaller: CallerCheck
  /** Told of long replies. */
  readonly relief: Relief
  /** Told of whatever is thrown and should not be. */
  readonly onBug: (error: unknown) => void
}

/** Serves connections that others accepted. */
export interface HttpServer {
  /** Takes a connection over, with all bytes that have come and were not answered put back into it. */
  readonly take: (socket: Socket) => void
  /** Ends every connection at once. */
  readonly close: () => Promise<void>
}

/** Gives the reply of a target to a message. Never throws. */
export type Answer = (target: Target, caller: Caller, message: Uint8Array) => MaybePromise<Reply>

/** @param onBug told of what a target throws: its caller is told "internal error" */
export function createAnswer(onBug: (error: unknown) => void): Answer {
  return (target, caller, message) => {
    try {
      return target.answer(caller, message)
    } catch (error) {
      return writeError(null, errorObjectOf(error, onBug))
    }
  }
}

export function isRefusal(target: Target | Refusal): target is Refusal {
  return 'status' in target
}

/** `/alice` of `/alice/?x=1`: by what a front knows a chain. */
export function pathOf(target: string): string {
  const [path = ''] = target.split('?', 1)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** How often connections are checked for being idle, in milliseconds. */
export function idleCheckMs({ headersMs, requestMs, idleMs }: Omit<Timeouts, 'stallMs'>): number {
  return Math.min(headersMs, requestMs, idleMs, 1_000)
}
