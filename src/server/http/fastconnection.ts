// A connection of which every request is a plain POST, read from its socket and answered there.
import type { Socket } from 'node:net'
import { whenThere } from '../../core/promises.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import { Caller } from '../../rpc/session.ts'
import { type Answer, type Front, isRefusal, type Target } from '../answer.ts'
import type { Relief } from '../relief.ts'
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

/** Bytes that may wait to be read by a client; beyond it no more of its requests are read. */
const HIGH_WATER_BYTES = 1024 * 1024

/** What has not come as a whole by then is left to node's server, which knows when it is too late. */
const INCOMPLETE_MS = 1_000

/** Characters of a reply from which on it is not copied once more behind its head. */
const LONG_REPLY = 64 * 1024

const NOTHING = Buffer.alloc(0)

/** What all connections share. */
export interface ConnectionOptions {
  readonly readHead: (bytes: Buffer) => KnownHead | undefined
  readonly targetOf: Front['targetOf']
  readonly answer: Answer
  readonly heads: ReplyHeads
  /** Hands a connection over to node's server. */
  readonly handOver: (connection: FastConnection, socket: Socket) => void
  readonly forget: (connection: FastConnection) => void
  readonly relief: Relief
  readonly idleMs: number
  /** How often connections are checked. */
  readonly idleCheckMs: number
}

/** A reply in its place: replies leave in the order of their requests. */
interface Slot {
  /** Undefined until it is known. */
  reply: Reply | undefined
  readonly closes: boolean
}

interface Reply {
  readonly status: '200 OK' | '204 No Content' | '503 Service Unavailable'
  readonly body: string | JsonText | undefined
}

/** One connection while all of its requests are plain. */
export class FastConnection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #caller = new Caller()
  /** Requests whose replies have not left. */
  readonly #slots: Slot[] = []
  /** What has come and belongs to no request that runs; while a body is awaited, in the pieces in which it came. */
  #pieces: Buffer[] = []
  #size = 0
  /** Bytes that there must be before it is worth to look at them again. */
  #needed = 1
  /** How long it has waited for the client, counted by checks: to ask a clock at each request costs more. */
  #waitedMs = 0
  #hasServed = false
  #isWriting = false
  /** While requests are taken from what came, their replies wait: those of all are written together. */
  #isReading = false
  /** True once what comes is not plain: the connection goes over when all before it is answered. */
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

  /** Ends what has been idle for too long, and leaves what is slow to node's server, which knows when it is too slow. */
  checkIdle(): void {
    if (this.#slots.length > 0 || this.#isWriting || this.#hasEnded) return
    const { idleMs, idleCheckMs } = this.#options
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

  /** Runs all requests that are there as a whole. */
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

  /** Runs the request that `bytes` begin with. @returns what is after it; undefined when it is not whole or not plain */
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
    const target = this.#options.targetOf(head.path)
    if (isRefusal(target)) {
      this.#isLeaving = true
      return undefined
    }
    this.#run(target, bytes.subarray(bodyAt, size), head.closes)
    return head.closes || bytes.length === size ? NOTHING : bytes.subarray(size)
  }

  /** Requests that came together are answered together, as far as their replies are there at once. */
  #gather(): void {
    this.#socket.cork()
    setImmediate(() => this.#socket.uncork())
  }

  /** Reads no more while replies are not read, too many requests wait, or what is next is not plain. */
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

  /** Writes the replies that are known, up to the first that is not. */
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
    await this.#writeLong(long)
    this.#isWriting = false
    if (!this.#endsWith(slot)) this.#writeReplies()
  }

  /** Forgets what was replied to; true when it was the connection's last. */
  #endsWith(slot: Slot): boolean {
    this.#slots.shift()
    if (slot.closes) this.#socket.destroySoon()
    return slot.closes
  }

  /** Nothing runs: the connection waits for more, ends, or goes over to node's server. */
  #rest(): void {
    this.#waitedMs = 0
    if (this.#isLeaving) this.#leave()
    else if (this.#hasEnded) this.#finish()
  }

  /** @returns the body, when it is too long for one write, and has to follow */
  #write({ status, body }: Reply, closes: boolean): JsonText | undefined {
    if (!this.#socket.writable) return undefined
    const { heads, relief } = this.#options
    if (body === undefined) {
      this.#socket.write(heads.of(status, { closes, hasBody: false }), 'latin1')
      return undefined
    }
    const isUsual = status === '200 OK' && !closes
    const head = isUsual ? heads.ok() : heads.of(status, { closes, hasBody: true })
    if (body instanceof JsonText) {
      relief.note(body.size)
      const pieces = body.bytes
      if (pieces !== undefined) return this.#writeAll(`${head}${body.size}`, pieces)
      this.#socket.write(`${head}${body.size}\r\n\r\n`, 'latin1')
      return body
    }
    if (body.length > LONG_REPLY) {
      const bytes = Buffer.from(body)
      relief.note(bytes.length)
      return this.#writeAll(`${head}${bytes.length}`, [bytes])
    }
    const size = Buffer.byteLength(body)
    // ASCII, as nearly all replies are, is written as it is
    this.#socket.write(`${head}${size}\r\n\r\n${body}`, size === body.length ? 'latin1' : 'utf8')
    return undefined
  }

  /** In one piece for the system, without copying it together before. */
  #writeAll(head: string, pieces: readonly Buffer[]): undefined {
    this.#socket.cork()
    this.#socket.write(`${head}\r\n\r\n`, 'latin1')
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }

  /** Piece by piece, as fast as the client reads. */
  async #writeLong(body: JsonText): Promise<void> {
    for await (const chunk of body.chunks()) {
      if (!this.#socket.writable) return
      if (this.#socket.write(chunk)) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Ends the wait of a long reply for its client. */
  #wake = (): void => undefined

  readonly #onDrain = (): void => {
    this.#wake()
    this.#balance()
  }

  /** The client sends no more; it may still wait for replies. */
  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (this.#slots.length === 0) this.#finish()
    else this.#probe = setInterval(() => this.#ask(), PROBE_MS).unref()
  }

  /** Whoever is gone answers this with a reset, whoever waits reads on. */
  #ask(): void {
    if (!this.#isWriting && this.#socket.writable) this.#socket.write(STILL_WORKING)
  }

  #finish(): void {
    this.#socket.end(this.#size > 0 ? rawRefusal(brokenOff) : '')
  }

  /** Goes over to node's server, once all before is answered. @returns true when it did */
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
    this.#wake()
    this.#options.forget(this)
  }
}
