// Notifications to a WebSocket client: made and written only as fast as it reads.
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { Json } from '../rpc/schema.ts'
import type { Notifications } from '../rpc/session.ts'
import type { HttpOptions } from './answer.ts'

/** Bytes waiting in a socket above which no more are made. */
const HIGH_WATER_BYTES = 256 * 1024

/** Notifications sent in any turn, so that the few caused by a call come before its reply. */
const AT_LEAST = 16

/** Milliseconds of writing to all clients before other work gets a turn. */
const TURN_MS = 10

/** Milliseconds of writing to one client before the next. */
const SLICE_MS = 2

/** Notifications queued for a client that reads nothing. */
const MAX_UNREAD = 1_000

/** Chain changes queued for a client, however fast it reads. */
const MAX_CHANGES = 100_000

/** Close code of RFC 6455: the client breaks a rule of this server. */
const TOO_SLOW = 1008

/** Shares this thread's time among clients with many notifications. */
export class Turns {
  readonly #ready = new Set<Outbox>()
  #isOpen = false
  #endsAt = 0

  /** Starts a client that had an empty queue: at once, if the turn allows. */
  begin(outbox: Outbox): void {
    this.#open()
    if (outbox.write(this.#endsAt)) this.#ready.add(outbox)
  }

  /** Continues a client that has read what was written. */
  goOn(outbox: Outbox): void {
    this.#ready.add(outbox)
    this.#open()
  }

  #open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#endsAt = performance.now() + TURN_MS
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isOpen = false
    if (this.#ready.size === 0) return
    this.#open()
    // one that is added again comes last
    for (const outbox of this.#ready) {
      const now = performance.now()
      if (now >= this.#endsAt) return
      this.#ready.delete(outbox)
      if (outbox.write(Math.min(this.#endsAt, now + SLICE_MS))) this.#ready.add(outbox)
    }
  }
}

type Timed = Duplex & { readonly setTimeout?: (ms: number) => unknown }

interface Waiting {
  readonly method: string
  readonly rest: Iterator<Json | undefined>
  /** Upper bound of the rest. */
  most: number
}

export class Outbox {
  readonly #client: WebSocket
  readonly #socket: Timed
  readonly #turns: Turns
  readonly #options: Pick<HttpOptions, 'timeouts' | 'heapTrimmer'>
  #waiting: Waiting[] = []
  /** Sent entries of `#waiting`: they are removed all at once, because shifting a long list is slow. */
  #sent = 0
  #most = 0
  /** True while written bytes are unread. */
  #isFull = false
  #isHeld = false
  /** How often the socket was filled. */
  #fills = 0

  constructor(
    client: WebSocket,
    socket: Timed,
    turns: Turns,
    options: Pick<HttpOptions, 'timeouts' | 'heapTrimmer'>,
  ) {
    this.#client = client
    this.#socket = socket
    this.#turns = turns
    this.#options = options
    // fires while the client neither reads nor sends; after this process was held, before what was read meanwhile is seen
    socket.on('timeout', () => {
      const fills = this.#fills
      setImmediate(() => this.#onStall(fills))
    })
    client.once('close', () => this.#clear())
  }

  add(method: string, { most, params }: Notifications): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    const isIdle = this.#sent === this.#waiting.length
    this.#waiting.push({ method, rest: params[Symbol.iterator](), most })
    this.#most += most
    if (isIdle) this.#begin()
    if (this.#waiting.length - this.#sent > MAX_CHANGES) this.cutOff()
  }

  /** Holds all notifications back until `release`. */
  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#begin()
  }

  #begin(): void {
    if (!this.#isFull && !this.#isHeld) this.#turns.begin(this)
  }

  /**
   * Writes until a time of `performance.now`, or until the socket is full.
   * @returns true if there is more to write, and room
   */
  write(until: number): boolean {
    if (this.#isHeld) return false
    for (let looked = 1; ; looked++) {
      const next = this.#waiting[this.#sent]
      if (next === undefined || this.#client.readyState !== WebSocket.OPEN) {
        this.#clear()
        return false
      }
      this.#send(next)
      if (this.#socket.writableLength > HIGH_WATER_BYTES) {
        this.#awaitRoom()
        return false
      }
      if (looked >= AT_LEAST && performance.now() >= until) return true
    }
  }

  #send(waiting: Waiting): void {
    const { value: params, done } = waiting.rest.next()
    if (done === true) {
      this.#most -= waiting.most
      this.#sent += 1
      if (2 * this.#sent > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#sent)
        this.#sent = 0
      }
    } else if (params !== undefined) {
      waiting.most -= 1
      this.#most -= 1
      const text = JSON.stringify({ jsonrpc: '2.0', method: waiting.method, params })
      this.#options.heapTrimmer.note(text.length)
      this.#client.send(text)
    }
  }

  #awaitRoom(): void {
    this.#isFull = true
    this.#fills += 1
    this.#socket.setTimeout?.(this.#options.timeouts.stallMs)
    this.#socket.once('drain', () => {
      this.#isFull = false
      this.#socket.setTimeout?.(0)
      this.#turns.goOn(this)
    })
  }

  #onStall(fills: number): void {
    if (!this.#isFull || fills !== this.#fills) return
    if (this.#most > MAX_UNREAD) this.cutOff()
    else this.#socket.setTimeout?.(this.#options.timeouts.stallMs)
  }

  /** Ends the session of a client that does not read its notifications. */
  cutOff(): void {
    this.#clear()
    this.#client.close(TOO_SLOW, 'too many unread notifications')
  }

  #clear(): void {
    for (const { rest } of this.#waiting.slice(this.#sent)) rest.return?.()
    this.#waiting = []
    this.#sent = 0
    this.#most = 0
  }
}
