// An HTTP connection from its first byte to its last: how it ends when what comes in cannot be understood.
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Caller } from '../rpc/session.ts'
import { PROBE_MS, type Refusal, rawRefusal, refuse, STILL_WORKING } from './replies.ts'

/** How long a client has to read the last words before its socket is closed, in milliseconds. */
const LINGER_MS = 1_000

/** One client's connection. Requests that follow each other without waiting are answered in their order. */
export class Connection {
  /** Requests that are being answered. */
  waiting = 0
  readonly caller: Caller = new Caller()
  readonly #socket: Duplex
  #last: ServerResponse | undefined
  #isEnding = false

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.once('close', () => this.caller.hangUp())
    socket.once('end', () => this.#probe())
  }

  /** True once nothing more is taken from this client. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** A request has come, and this will be the response to it. */
  begin(response: ServerResponse): void {
    this.#last = response
  }

  /**
   * Answers what came before, then says why the rest is not taken, and ends the connection. Input is read and
   * dropped until the client has seen it: closing a socket with unread input resets it, and takes the reply along.
   */
  end(refusal: Refusal): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const last = this.#last
    const isHalfSent = last !== undefined && !last.req.complete
    // a half-sent request is refused by its own response, unless that was given before all of the body came
    const words = isHalfSent ? '' : rawRefusal(refusal)
    if (isHalfSent && !last.headersSent) refuse(last, refusal)
    if (last === undefined || last.writableFinished) this.#leave(words)
    else last.once('close', () => this.#leave(words))
  }

  /**
   * The client sends no more. It may wait for its replies all the same, or be gone: that shows when something is
   * written to it. Nothing can be written into a reply that has begun, nor to a client of HTTP/1.0.
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
