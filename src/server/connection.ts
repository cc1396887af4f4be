// An HTTP connection, and how it ends when its input is malformed.
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Caller } from '../rpc/session.ts'
import { PROBE_MS, type Refusal, rawRefusal, refuse, STILL_WORKING } from './replies.ts'

/** Milliseconds for the client to read the refusal before its socket closes. */
const LINGER_MS = 1_000

/** Pipelined requests are answered in order. */
export class Connection {
  waiting = 0
  /** True once no more input is accepted. */
  isEnding = false
  readonly caller: Caller = new Caller()
  readonly #socket: Duplex
  #last: ServerResponse | undefined

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.once('close', () => this.caller.hangUp())
    socket.once('end', () => this.#probe())
  }

  begin(response: ServerResponse): void {
    this.#last = response
  }

  /**
   * Answers earlier requests, sends the refusal, and ends the connection. Until the client has seen it, input is read and
   * dropped: closing a socket with unread input resets it and loses the reply.
   */
  end(refusal: Refusal): void {
    if (this.isEnding) return
    this.isEnding = true
    const last = this.#last
    const isHalfSent = last !== undefined && !last.req.complete
    // a half-sent request gets the refusal as its own response, unless that was sent before the body was complete
    const words = isHalfSent ? '' : rawRefusal(refusal)
    if (isHalfSent && !last.headersSent) refuse(last, refusal)
    if (last === undefined || last.writableFinished) this.#leave(words)
    else last.once('close', () => this.#leave(words))
  }

  /**
   * The client has closed its side. It may still wait for replies or be gone, which shows on the next write. A reply
   * that has begun, or a client of HTTP/1.0, must not get extra bytes.
   */
  #probe(): void {
    const timer = setInterval(() => {
      const last = this.#last
      const isAwaited = this.waiting === 1 && last?.headersSent === false
      if (!(isAwaited && last.req.httpVersion === '1.1' && this.#socket.writable)) return
      this.#socket.write(STILL_WORKING)
    }, PROBE_MS).unref()
    this.#socket.once('close', () => clearInterval(timer))
  }

  /** False if the client is gone: if it has closed its side, the second probe fails. */
  async isThere(): Promise<boolean> {
    if (this.#socket.readableEnded) await delay(3 * PROBE_MS, undefined, { ref: false })
    return !this.#socket.destroyed
  }

  #leave(words: string): void {
    if (!this.#socket.writable) {
      this.#socket.destroy()
      return
    }
    this.#socket.end(words)
    this.#socket.resume()
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
    this.#socket.once('close', () => clearTimeout(timer))
  }
}
