// A connection with only plain POSTs, read from its socket and answered there.
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { whenThere } from '../../core/promises.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import { Caller } from '../../rpc/session.ts'
import { type HttpOptions, isRefusal, type Target } from '../answer.ts'
import {
  brokenOff,
  MAX_PIPELINED,
  PROBE_MS,
  rawRefusal,
  STILL_WORKING,
  textOf,
  tooManyPipelined,
} from '../replies.ts'
import type { ReplyHeads } from './replyheads.ts'
import { isPartOfHead, type KnownHead } from './requesthead.ts'

/** Bytes of unread replies above which no more requests are read. */
const HIGH_WATER_BYTES = 1024 * 1024

/** Milliseconds after which an incomplete request goes to node's server, which enforces the timeouts. */
const INCOMPLETE_MS = 1_000

/** Characters above which a reply is not copied behind its head. */
const LONG_REPLY = 64 * 1024

const NOTHING = Buffer.alloc(0)

export interface ConnectionOptions
  extends Pick<HttpOptions, 'front' | 'answer' | 'heapTrimmer' | 'timeouts'> {
  readonly readHead: (bytes: Buffer) => KnownHead | undefined
  readonly heads: ReplyHeads
  /** Hands a connection over to node's server. */
  readonly handOver: (connection: FastConnection, socket: Socket) => void
  readonly forget: (connection: FastConnection) => void
  readonly idleCheckMs: number
}

/** Replies leave in the order of their requests. */
interface Slot {
  /** Undefined until known. */
  reply: Reply | undefined
  readonly closes: boolean
}

interface Reply {
  readonly status: '200 OK' | '204 No Content' | '503 Service Unavailable'
  readonly body: string | JsonText | undefined
}

export class FastConnection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #caller = new Caller()
  /** Requests whose replies have not left. */
  readonly #slots: Slot[] = []
  /** Unparsed input; while a body is incomplete, in the pieces received. */
  #pieces: Buffer[] = []
  #size = 0
  /** Bytes required before parsing again. */
  #needed = 1
  /** Idle time, counted by checks: reading a clock for each request costs more. */
  #waitedMs = 0
  #hasServed = false
  #isWriting = false
  /** While input is being parsed, replies are held back and written together. */
  #isReading = false
  /** True after input that is not plain: the connection moves once earlier requests are answered. */
  #isLeaving = false
  #hasEnded = false
  #probe: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Closes idle connections; slow ones move to node's server, which enforces the timeouts. */
  checkIdle(): void {
    if (this.#slots.length > 0 || this.#isWriting || this.#hasEnded) return
    const { idleCheckMs, timeouts } = this.#options
    const { idleMs } = timeouts
    this.#waitedMs += idleCheckMs
    if (this.#size > 0 || !this.#hasServed) {
      if (this.#waitedMs > Math.min(INCOMPLETE_MS, idleMs)) this.#leave()
    } else if (this.#waitedMs > idleMs) this.#socket.destroy()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#size === 0) this.#waitedMs = 0
    this.#pieces.push(chunk)
    this.#size += chunk.length
    if (this.#isLeaving || this.#size < this.#needed) return
    this.#read()
  }

  #read(): void {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const began = this.#slots.length
    let rest = all
    this.#isReading = true
    while (rest.length > 0) {
      const next = this.#take(rest)
      if (next === undefined) break
      rest = next
    }
    this.#isReading = false
    if (rest.length < all.length) this.#waitedMs = 0
    this.#pieces = rest.length > 0 ? [rest] : []
    this.#size = rest.length
    if (this.#slots.length > began + 1) this.#gather()
    if (this.#isLeaving && this.#leave()) return
    this.#balance()
    if (this.#slots[0]?.reply !== undefined && !this.#isWriting) this.#writeReplies()
  }

  /** Runs the first request. @returns the rest of the bytes; undefined if it is incomplete or not plain */
  #take(bytes: Buffer): Buffer | undefined {
    this.#needed = 1
    const known = this.#options.readHead(bytes)
    if (known === undefined) {
      this.#isLeaving = !isPartOfHead(bytes)
      return undefined
    }
    const { head } = known
    const bodyAt = known.bytes.length
    const size = bodyAt + head.length
    if (bytes.length < size) {
      this.#needed = size
      return undefined
    }
    const target = this.#options.front.targetOf(head.path)
    if (isRefusal(target)) {
      this.#isLeaving = true
      return undefined
    }
    this.#run(target, bytes.subarray(bodyAt, size), head.closes)
    return head.closes || bytes.length === size ? NOTHING : bytes.subarray(size)
  }

  /** Writes the replies of requests that came together in one piece, as far as they are ready. */
  #gather(): void {
    this.#socket.cork()
    setImmediate(() => this.#socket.uncork())
  }

  /** Stops reading while replies are unread, too many requests wait, or the next is not plain. */
  #balance(): void {
    const isFull =
      this.#slots.length > MAX_PIPELINED ||
      this.#socket.writableLength > HIGH_WATER_BYTES ||
      (this.#isLeaving && this.#slots.length > 0)
    if (isFull) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  #run(target: Target, body: Uint8Array, closes: boolean): void {
    this.#hasServed = true
    const slot: Slot = { reply: undefined, closes }
    this.#slots.push(slot)
    if (closes) {
      this.#socket.off('data', this.#onData)
      this.#socket.resume()
    }
    if (this.#slots.length > MAX_PIPELINED) {
      this.#settle(slot, { status: '503 Service Unavailable', body: textOf(tooManyPipelined) })
      return
    }
    void whenThere(this.#options.answer(target, this.#caller, body), (body) =>
      this.#settle(slot, { status: body === undefined ? '204 No Content' : '200 OK', body }),
    )
  }

  #settle(slot: Slot, reply: Reply): void {
    slot.reply = reply
    if (slot === this.#slots[0] && !this.#isWriting && !this.#isReading) this.#writeReplies()
  }

  #writeReplies(): void {
    for (let slot = this.#slots[0]; slot?.reply !== undefined; slot = this.#slots[0]) {
      const long = this.#write(slot.reply, slot.closes)
      if (long !== undefined) {
        void this.#goOnAfter(long, slot)
        return
      }
      if (this.#endsWith(slot)) return
    }
    this.#balance()
    if (this.#slots.length === 0) this.#rest()
  }

  async #goOnAfter(long: JsonText, slot: Slot): Promise<void> {
    this.#isWriting = true
    // in pieces, as fast as the client reads; a reply that ends too early must not look whole
    await pipeline(long.chunks(), this.#socket, { end: false }).catch(() => this.#socket.destroy())
    this.#options.heapTrimmer.note(long.size)
    this.#isWriting = false
    if (!this.#endsWith(slot)) this.#writeReplies()
  }

  /** Removes a written reply; true if it was the connection's last. */
  #endsWith(slot: Slot): boolean {
    this.#slots.shift()
    if (slot.closes) this.#socket.destroySoon()
    return slot.closes
  }

  /** Idle: waits for more, ends, or moves to node's server. */
  #rest(): void {
    this.#waitedMs = 0
    if (this.#isLeaving) this.#leave()
    else if (this.#hasEnded) this.#finish()
  }

  /** @returns the body, if it is too long for one write */
  #write({ status, body }: Reply, closes: boolean): JsonText | undefined {
    if (!this.#socket.writable) return undefined
    const { heads, heapTrimmer } = this.#options
    if (body === undefined) {
      this.#socket.write(heads.of(status, { closes, hasBody: false }), 'latin1')
      return undefined
    }
    const isUsual = status === '200 OK' && !closes
    const head = isUsual ? heads.ok() : heads.of(status, { closes, hasBody: true })
    if (body instanceof JsonText) {
      const pieces = body.bytes
      if (pieces !== undefined) {
        heapTrimmer.note(body.size)
        return this.#writeAll(`${head}${body.size}`, pieces)
      }
      this.#socket.write(`${head}${body.size}\r\n\r\n`, 'latin1')
      return body
    }
    if (body.length > LONG_REPLY) {
      const bytes = Buffer.from(body)
      heapTrimmer.note(bytes.length)
      return this.#writeAll(`${head}${bytes.length}`, [bytes])
    }
    const size = Buffer.byteLength(body)
    // ASCII, as nearly all replies are, needs no encoding
    this.#socket.write(`${head}${size}\r\n\r\n${body}`, size === body.length ? 'latin1' : 'utf8')
    return undefined
  }

  /** One system call, without copying the pieces together. */
  #writeAll(head: string, pieces: readonly Buffer[]): undefined {
    this.#socket.cork()
    this.#socket.write(`${head}\r\n\r\n`, 'latin1')
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }

  readonly #onDrain = (): void => {
    this.#balance()
  }

  /** The client has closed its side; it may still wait for replies. */
  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (this.#slots.length === 0) this.#finish()
    else this.#probe = setInterval(() => this.#ask(), PROBE_MS).unref()
  }

  /** A client that is gone responds with a reset; one that waits reads on. */
  #ask(): void {
    if (!this.#isWriting && this.#socket.writable) this.#socket.write(STILL_WORKING)
  }

  #finish(): void {
    this.#socket.end(this.#size > 0 ? rawRefusal(brokenOff) : '')
  }

  /** Moves to node's server once all earlier requests are answered. @returns true if it moved */
  #leave(): boolean {
    this.#isLeaving = true
    if (this.#slots.length > 0) return false
    const socket = this.#socket
    if (socket.destroyed || this.#hasEnded) {
      this.#finish()
      return false
    }
    clearInterval(this.#probe)
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    if (this.#size > 0) socket.unshift(Buffer.concat(this.#pieces))
    socket.pause()
    this.#options.handOver(this, socket)
    return true
  }

  readonly #onError = (): void => {
    this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    clearInterval(this.#probe)
    this.#caller.hangUp()
    this.#options.forget(this)
  }
}
