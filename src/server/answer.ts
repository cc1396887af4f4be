// Interfaces of the server: chains by path, and sites.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { MaybePromise } from '../core/promises.ts'
import type { Reply } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { Caller } from '../rpc/session.ts'
import type { Site } from '../rpc/site.ts'
import { writeError } from '../rpc/wire.ts'
import type { CallerHeaders } from './callers.ts'
import type { HeapTrimmer } from './heaptrimmer.ts'
import type { Refusal } from './replies.ts'

/** Milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  /** Headers and body. */
  readonly requestMs: number
  /** Between two requests of one connection. */
  readonly idleMs: number
  /** Until a WebSocket client reads pending notifications. */
  readonly stallMs: number
}

/** Takes sockets of other chains that request a link. */
export interface LinkDoor {
  readonly path: string
  /** @returns the refusal; undefined: taken */
  readonly take: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => Promise<string | undefined>
}

export interface Target {
  /** Synchronous where the method is. An exception is a bug. */
  readonly answer: (caller: Caller, message: Uint8Array) => MaybePromise<Reply>
  /** The open WebSockets, which end with the target. */
  readonly sessions: Set<EndSession>
}

/** Closes a WebSocket (1001, going away). */
export type EndSession = (reason: string) => void

export interface ServerFront {
  /** By path, without query and trailing `/`; called for each HTTP request, and once per WebSocket. */
  readonly targetOf: (path: string) => Target | Refusal
  /** The first that owns a request answers it. */
  readonly sites: readonly Site[]
  /** Undefined: links are refused. */
  readonly links?: LinkDoor | undefined
}

/** Checks the destination and the calling page. @returns the refusal; undefined if allowed */
export type CallerCheck = (headers: CallerHeaders) => Refusal | undefined

export interface HttpOptions {
  readonly front: ServerFront
  /** Bytes of a request's body, and of a WebSocket message. */
  readonly bodyLimit: number
  readonly timeouts: Timeouts
  readonly checkCaller: CallerCheck
  readonly answer: SafeAnswer
  /** Counts long replies. */
  readonly heapTrimmer: HeapTrimmer
  /** Called for unexpected exceptions of targets and sites; their clients get "internal error". */
  readonly onBug: (error: unknown) => void
}

export interface HttpServer {
  /** Takes over a connection; unanswered bytes have been put back into it. */
  readonly take: (socket: Socket) => void
  readonly close: () => Promise<void>
}

/** Never throws. */
export type SafeAnswer = (
  target: Target,
  caller: Caller,
  message: Uint8Array,
) => MaybePromise<Reply>

/** @param onBug gets a target's exception; the client gets "internal error" */
export function createSafeAnswer(onBug: (error: unknown) => void): SafeAnswer {
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

/** `/alice` of `/alice/?x=1`: the key of a chain. */
export function pathOf(target: string): string {
  const [path = ''] = target.split('?', 1)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/**
 * The host of an absolute target (`http://localhost:8545/7`) replaces the header, and its path the target.
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
 */
export function readTarget(request: IncomingMessage): void {
  const [, host, path = ''] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? '') ?? []
  if (host === undefined) return
  request.headers.host = host
  request.url = path.startsWith('/') ? path : `/${path}`
}

/** Milliseconds between checks for idle connections. */
export function idleCheckMs({ headersMs, requestMs, idleMs }: Omit<Timeouts, 'stallMs'>): number {
  return Math.min(headersMs, requestMs, idleMs, 1_000)
}
