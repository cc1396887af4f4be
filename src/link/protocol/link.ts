// A link to one peer: handshake, requests and replies, timeouts and limits.
import { attempt, DevchainError } from '../../core/errors.ts'
import { isPromise, type MaybePromise } from '../../core/promises.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import type { ReputationEvent } from '../../node/peers.ts'
import type { Intake, IntakeHolder } from './intake.ts'
import { type Limits, Throttle } from './limits.ts'
import { LinkError } from './linkerror.ts'
import {
  decodeMessage,
  encodeMessage,
  type LinkMessage,
  type LinkMessages,
  MAX_ANNOUNCE,
  REPLY_BYTES,
} from './messages.ts'
import type { Pipe } from './pipe.ts'
import { pause, type Timing } from './timing.ts'

const REPLIES = {
  getHeaders: 'headers',
  getBlocks: 'blocks',
  getTransactions: 'transactions',
} as const

type RequestKind = keyof typeof REPLIES
type ReplyMessage<Q extends RequestKind = RequestKind> = LinkMessage<(typeof REPLIES)[Q]>

/** Messages that the link passes to its owner. */
export type PeerMessage = Exclude<
  LinkMessage,
  LinkMessage<'hello' | 'goodbye' | 'ping' | 'pong' | 'hold'>
>

interface LinkListener {
  /**
   * @returns true: the peer is taken; false: it adopts this chain's genesis and sends another hello
   * @throws {LinkError} why it is refused
   */
  readonly greet: (hello: LinkMessages['hello']) => MaybePromise<boolean>
  /** Both sides have accepted each other. */
  readonly linked: () => void
  readonly message: (message: PeerMessage) => MaybePromise<void>
  readonly event: (event: ReputationEvent) => void
  readonly held: (isHeld: boolean) => void
  /** Called once. */
  readonly end: (reason: string, event: ReputationEvent | undefined) => void
}

export interface NodeOptions {
  readonly timing: Timing
  readonly limits: Limits
  readonly yieldIfDue: YieldIfDue
  readonly hello: () => LinkMessages['hello']
  readonly onBug: (error: unknown) => void
}

interface LinkOptions extends NodeOptions {
  readonly pipe: Pipe
  readonly intake: Intake
  readonly links: () => number
  readonly listener: LinkListener
}

const MAX_REQUESTS = 64

/** Milliseconds for the goodbye to leave. */
const GOODBYE_MS = 500

/** Milliseconds between checks if a full pipe has room. */
const ROOM_MS = 20

interface OpenRequest {
  readonly reply: string
  readonly resolve: (reply: LinkMessage) => void
  readonly reject: (error: LinkError) => void
  readonly stopTimer: () => void
}

export class Link implements IntakeHolder {
  readonly #options: LinkOptions
  readonly #throttle: Throttle
  readonly #waiting: Uint8Array[] = []
  readonly #open = new Map<number, OpenRequest>()
  #waitingBytes = 0
  #partBytes = 0
  #isReading = true
  #isHandling = false
  #state: 'greeting' | 'linked' | 'ended' = 'greeting'
  /** Both are true on a link: this node has accepted the peer, and the peer this node. */
  #isTakenHere = false
  #isTakenThere = false
  #nextId = 1
  #heardAt: number
  #askedAt = Number.NEGATIVE_INFINITY
  #stopTimer: () => void
  #isHeldThere = false
  #pingSentAt: number | undefined
  /** Milliseconds of the last ping; undefined before the first. */
  latencyMs: number | undefined
  isHeldHere = false

  constructor(options: LinkOptions) {
    this.#options = options
    const { timing, limits, pipe } = options
    this.#heardAt = timing.now()
    this.#throttle = new Throttle(limits.messagesPerSecond, limits.messagesAtOnce, timing.now())
    this.#stopTimer = timing.after(limits.helloMs, () =>
      this.refuse(new LinkError(`it said nothing for ${limits.helloMs} ms`, 'timeoutMessages')),
    )
    pipe.listen({
      message: (message) => this.#take(message),
      part: (bytes) => this.#takePart(bytes),
      end: (reason) => this.#end(reason ?? this.#lastWord() ?? 'the connection was closed'),
    })
    this.#write({ kind: 'hello', ...options.hello() })
  }

  get isLinked(): boolean {
    return this.#state === 'linked'
  }

  get isHeld(): boolean {
    return this.isHeldHere || this.#isHeldThere
  }

  get queued(): number {
    return this.#waiting.length + this.#options.pipe.unsent
  }

  /** Bytes after which a reply ends: many peers that read nothing must not fill the memory. */
  get replyBytes(): number {
    const { limits, links } = this.#options
    return Math.min(REPLY_BYTES, limits.unsentBytes / links())
  }

  send(message: PeerMessage): void {
    if (this.#state === 'linked' && !this.isHeld) this.#write(message)
  }

  greetAgain(): void {
    this.#write({ kind: 'hello', ...this.#options.hello() })
  }

  /** @throws {LinkError} after the timeout or the end of the link */
  request<Q extends RequestKind>(
    kind: Q,
    asked: Omit<LinkMessages[Q], 'id'>,
  ): Promise<ReplyMessage<Q>> {
    return new Promise((resolve, reject) => {
      if (this.#state !== 'linked' || this.isHeld || this.#open.size >= MAX_REQUESTS) {
        return reject(new LinkError('it takes no requests now'))
      }
      const id = this.#nextId++
      const { timing, limits } = this.#options
      const { answerMs } = limits
      const stopTimer = timing.after(answerMs, () => {
        this.#open.delete(id)
        this.#options.listener.event('timeoutMessages')
        // without an event, as it is counted already
        reject(new LinkError(`no answer to ${kind} in ${answerMs} ms`))
      })
      const settle = resolve as unknown as (reply: LinkMessage) => void
      this.#askedAt = timing.now()
      this.#open.set(id, { reply: REPLIES[kind], resolve: settle, reject, stopTimer })
      this.#write({ kind, id, ...asked } as unknown as LinkMessage)
    })
  }

  hold(isOn: boolean): void {
    if (this.#state !== 'linked' || this.isHeldHere === isOn) return
    this.isHeldHere = isOn
    this.#write({ kind: 'hold', isOn })
    this.#noteHeld(this.#isHeldThere)
  }

  close(reason: string): void {
    this.refuse(new LinkError(reason))
  }

  /** Frees the link's memory at once. */
  letGo(problem = 'peer buffers are full: dropping the peer with the oldest data'): void {
    this.refuse(new LinkError(problem, 'timeoutMessages'))
    this.#options.pipe.destroy()
  }

  /** Sends the reason to the other side. */
  refuse({ message, event }: LinkError): void {
    if (this.#state === 'ended') return
    const { pipe, timing } = this.#options
    this.#write({ kind: 'goodbye', reason: message })
    // read nothing more from a peer that broke the rules, not even its goodbye
    if (event !== undefined) pipe.read(false)
    else pipe.close()
    timing.after(GOODBYE_MS, () => pipe.destroy())
    this.#end(message, event)
  }

  #takePart(bytes: number): void {
    if (this.#state === 'ended') return
    this.#partBytes = bytes
    const { timing, limits, intake } = this.#options
    const isAnswer = timing.now() - this.#askedAt < limits.silenceMs
    if (bytes > 2 * MAX_ANNOUNCE && !isAnswer) {
      this.letGo(`it sends an unrequested message of more than ${MAX_ANNOUNCE} bytes`)
    } else intake.hold(this, this.#waitingBytes + bytes)
  }

  #take(message: Uint8Array): void {
    if (this.#state === 'ended') return
    const { timing, limits, pipe, intake, links } = this.#options
    this.#heardAt = timing.now()
    if (!this.#throttle.take(this.#heardAt)) {
      const problem = `it sends more than ${limits.messagesPerSecond} messages a second`
      this.refuse(new LinkError(problem, 'invalidMessages'))
      return
    }
    this.#waiting.push(message)
    this.#waitingBytes += message.length
    this.#partBytes = 0
    intake.pass(message.length, links())
    intake.hold(this, this.#waitingBytes)
    if ((this.#state as string) === 'ended') return
    if (this.#isReading && this.#isFull()) {
      this.#isReading = false
      pipe.read(false)
    }
    if (!this.#isHandling) void this.#handleAll()
  }

  /** The reason in a goodbye that nobody has read yet. */
  #lastWord(): string | undefined {
    const last = this.#waiting.at(-1)
    const message = last && attempt(() => decodeMessage(last))
    return message?.kind === 'goodbye' ? message.reason : undefined
  }

  #isFull(): boolean {
    const { limits, links } = this.#options
    const { waitingMessages, waitingBytes, waitingBytesOfAll } = limits
    const mostBytes = Math.min(waitingBytes, waitingBytesOfAll / links())
    return this.#waiting.length > waitingMessages || this.#waitingBytes > mostBytes
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true
    const { yieldIfDue, intake } = this.#options
    try {
      while (this.#waiting.length > 0) {
        // await only a real pause: otherwise messages of other links would overtake this one
        const pause = yieldIfDue()
        if (pause !== undefined) await pause
        const next = this.#waiting.shift()
        if (next === undefined) return
        this.#waitingBytes -= next.length
        intake.advance(this, this.#waitingBytes + this.#partBytes)
        if (!this.#isReading && !this.#isFull()) {
          this.#isReading = true
          this.#options.pipe.read(true)
        }
        const handled = this.#handle(decodeMessage(next))
        if (isPromise(handled)) await handled
        await this.#room()
        if ((this.#state as string) === 'ended') return
      }
    } catch (error) {
      this.refuse(this.#refusalOf(error))
    } finally {
      this.#isHandling = false
    }
  }

  #refusalOf(error: unknown): LinkError {
    if (error instanceof LinkError) return error
    if (error instanceof DevchainError) return new LinkError(error.message, 'invalidMessages')
    this.#options.onBug(error)
    return new LinkError('internal error')
  }

  /** Waits while the other side does not read its replies. */
  async #room(): Promise<void> {
    const { pipe, timing, limits, links } = this.#options
    const since = timing.now()
    while (this.#state === 'linked' && pipe.unsentBytes > limits.unsentBytes / links()) {
      if (timing.now() - since > limits.silenceMs) {
        throw new LinkError(`it reads nothing for ${limits.silenceMs} ms`, 'timeoutMessages')
      }
      await pause(timing, ROOM_MS)
    }
  }

  #handle(message: LinkMessage): MaybePromise<void> {
    switch (message.kind) {
      case 'hello':
        return this.#greet(message)
      case 'goodbye':
        this.#options.pipe.close()
        return this.#end(message.reason)
      case 'ping':
        this.#write({ kind: 'pong', id: message.id })
        return this.#noteTakenThere()
      case 'pong':
        return this.#notePong()
    }
    if (this.#isTakenHere) this.#noteTakenThere()
    if ((this.#state as string) !== 'linked') {
      throw new LinkError(`it said ${message.kind} before hello`, 'unexpectedMessages')
    }
    if (message.kind === 'hold') {
      this.#noteHeld(message.isOn)
      return undefined
    }
    // sent before both sides knew of the cut
    if (this.isHeld) return undefined
    if (isReply(message)) return this.#settle(message)
    return this.#options.listener.message(message)
  }

  async #greet(hello: LinkMessages['hello']): Promise<void> {
    if (this.#state === 'linked') throw new LinkError('it said hello twice', 'unexpectedMessages')
    if (!(await this.#options.listener.greet(hello)) || this.#state !== 'greeting') return
    this.#isTakenHere = true
    // a refused peer gets goodbye instead
    this.#ping()
    this.#enter()
  }

  #noteTakenThere(): void {
    this.#isTakenThere = true
    this.#enter()
  }

  #enter(): void {
    if (this.#state !== 'greeting' || !this.#isTakenHere || !this.#isTakenThere) return
    this.#state = 'linked'
    this.#stopTimer()
    this.#watch()
    this.#options.listener.linked()
  }

  #settle(message: ReplyMessage): void {
    const request = this.#open.get(message.id)
    if (request === undefined) {
      // a late reply was counted at its timeout
      if (message.id < this.#nextId) return
      throw new LinkError(`it answered request ${message.id}, never asked`, 'unexpectedMessages')
    }
    if (request.reply !== message.kind) {
      throw new LinkError(`it answered with ${message.kind}`, 'unexpectedMessages')
    }
    this.#open.delete(message.id)
    request.stopTimer()
    request.resolve(message)
  }

  #notePong(): void {
    if (this.#pingSentAt === undefined) return
    this.latencyMs = this.#options.timing.now() - this.#pingSentAt
    this.#pingSentAt = undefined
  }

  #noteHeld(isHeldThere: boolean): void {
    this.#isHeldThere = isHeldThere
    if (this.isHeld) this.#rejectAll('it is cut off')
    this.#options.listener.held(this.isHeld)
  }

  /** Pings a silent peer, and disconnects it if it stays silent. */
  #watch(): void {
    const { timing, limits } = this.#options
    this.#stopTimer = timing.after(limits.pingMs, () => {
      const silentMs = timing.now() - this.#heardAt
      if (silentMs >= limits.silenceMs) {
        return this.refuse(new LinkError(`silent for ${limits.silenceMs} ms`, 'timeoutMessages'))
      }
      this.#ping()
      this.#watch()
    })
  }

  #ping(): void {
    this.#pingSentAt ??= this.#options.timing.now()
    this.#write({ kind: 'ping', id: this.#nextId })
  }

  #write(message: LinkMessage): void {
    if (this.#state === 'ended') return
    const { pipe, intake, links } = this.#options
    const encoded = encodeMessage(message)
    // the parts of a message become garbage, too
    intake.pass(2 * encoded.length, links())
    pipe.send(encoded)
  }

  #end(reason: string, event?: ReputationEvent): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#stopTimer()
    this.#waiting.splice(0)
    this.#options.intake.release(this)
    this.#rejectAll(reason)
    this.#options.listener.end(reason, event)
  }

  #rejectAll(reason: string): void {
    for (const { reject, stopTimer } of this.#open.values()) {
      stopTimer()
      reject(new LinkError(reason))
    }
    this.#open.clear()
  }
}

function isReply(message: LinkMessage): message is ReplyMessage {
  return (Object.values(REPLIES) as string[]).includes(message.kind)
}
