// A chain at a path, which is opened by its first request and may be restarted.
import { DevchainError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promises.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { BlockReference } from '../node/ledger/references.ts'
import type { Reply } from '../rpc/dispatch.ts'
import { type ErrorObject, errorObjectOf } from '../rpc/errors.ts'
import type { Caller } from '../rpc/session.ts'
import { idIn, writeError } from '../rpc/wire.ts'
import type { EndSession, Target } from '../server/answer.ts'
import type { Begun, Origin } from './backend.ts'
import { type ChainFacts, factsOf } from './chainfacts.ts'

/** A chain in this thread or in another. */
export interface ServedChain extends Pick<Target, 'answer'> {
  /** Over HTTP and WebSocket, a batch counted once. */
  readonly requests: number
  /** What a chain that begins here, or after a block, branches off; its forks stay open until `forking.leaveAll`. */
  readonly heldOrigin: (block?: BlockReference) => MaybePromise<Origin>
  readonly facts: () => MaybePromise<ChainFacts>
  /** The newest lines of its log. */
  readonly messages: () => MaybePromise<readonly string[]>
  readonly close: () => Promise<unknown>
}

/** Called when a chain ends with its thread: why, and the error for the next client, unless one has got it. */
export type OnLost = (reason: string, message: string | undefined) => void

interface SlotOptions {
  readonly name: string
  /** What the chain begins with; may wait for the set-up. */
  readonly begun: () => MaybePromise<Begun>
  /** Opens the chain, also after a restart. */
  readonly open: (begun: Begun, onLost: OnLost) => Promise<ServedChain>
  /** On disk, if the chain is kept; read without opening the chain. */
  readonly kept: () => ChainState | undefined
  /** Forgets what is on disk. */
  readonly forget: () => MaybePromise<void>
  /** Called when it is retired. */
  readonly onDrop?: (() => Promise<void>) | undefined
  /** Milliseconds. */
  readonly now: () => number
  readonly onBug: (error: unknown) => void
}

export class ChainSlot implements Target {
  readonly name: string
  readonly sessions: Set<EndSession> = new Set()
  readonly #options: SlotOptions
  /** Grows at each end, so that what began before it is known as old. */
  #life = 0
  /** Resolves with undefined if this life ends before the chain has begun. */
  #opening: Promise<ServedChain | undefined> | undefined
  /** Ends the wait for what the chain begins with. */
  #stopWaiting: () => void = () => undefined
  /** Of the life before, whose name the next one has. */
  #closing: Promise<unknown> | undefined
  #chain: ServedChain | undefined
  /** That the chain was lost, until a client gets that as an error. */
  #lost: string | undefined
  /** Why it is not opened again. */
  #gone: string | undefined
  #begunMs: number
  #usedMs: number
  /** Set by requests, which do not read the clock. */
  #wasUsed = true
  /** Requests without replies yet. */
  #running = 0

  constructor(options: SlotOptions) {
    this.#options = options
    this.name = options.name
    this.#begunMs = options.now()
    this.#usedMs = this.#begunMs
  }

  get path(): string {
    return `/${this.name}`
  }

  /** Undefined until it is open. */
  get chain(): ServedChain | undefined {
    return this.#chain
  }

  /** Seconds since it was made or restarted. */
  get age(): number {
    return (this.#options.now() - this.#begunMs) / 1000
  }

  /** Of a kept chain that is not open. */
  get kept(): ChainState | undefined {
    return this.#options.kept()
  }

  get isOpening(): boolean {
    return this.#chain === undefined && this.#opening !== undefined
  }

  /** It is open or kept. */
  get isThere(): boolean {
    return this.#chain !== undefined || this.kept !== undefined
  }

  /** Undefined unless it is there. */
  facts(): MaybePromise<ChainFacts> | undefined {
    if (this.#chain !== undefined) return this.#chain.facts()
    const { kept } = this
    return kept && factsOf(kept)
  }

  get requests(): number {
    return this.#chain?.requests ?? 0
  }

  answer(caller: Caller, message: Uint8Array): MaybePromise<Reply> {
    this.#wasUsed = true
    const reply =
      this.#chain === undefined
        ? this.#answerOnceOpen(caller, message)
        : this.#chain.answer(caller, message)
    return isPromise(reply) ? this.whileUsed(reply) : reply
  }

  /** The chain is not idle before `work` ends. */
  async whileUsed<T>(work: Promise<T>): Promise<T> {
    this.#running += 1
    try {
      return await work
    } finally {
      this.#running -= 1
      this.#wasUsed = true
    }
  }

  async #answerOnceOpen(caller: Caller, message: Uint8Array): Promise<Reply> {
    const lost = this.#lost
    this.#lost = undefined
    try {
      if (lost !== undefined) throw new DevchainError('CANCELLED', lost)
      return await (await this.open()).answer(caller, message)
    } catch (error) {
      return refusalOf(message, errorObjectOf(error, this.#options.onBug))
    }
  }

  /** Opens the chain if it is not open. Rejects as opening it does, and the next call tries again; or once it is retired. */
  async open(): Promise<ServedChain> {
    if (this.#gone !== undefined) throw new DevchainError('CANCELLED', this.#gone)
    const life = this.#life
    this.#opening ??= this.#open()
    const chain = await this.#opening
    // one that ended while it opened is closed
    return chain !== undefined && this.#life === life ? chain : this.open()
  }

  async #open(): Promise<ServedChain | undefined> {
    const life = this.#life
    const ended = new Promise<undefined>((resolve) => {
      this.#stopWaiting = () => resolve(undefined)
    })
    try {
      await this.#closing?.catch(() => undefined)
      const begun = await Promise.race([this.#options.begun(), ended])
      if (begun === undefined) return undefined
      const chain = await this.#options.open(begun, (reason, message) => {
        if (this.#life === life) this.#lose(reason, message)
      })
      if (this.#life === life) this.#chain = chain
      return chain
    } catch (error) {
      if (this.#life === life) this.#opening = undefined
      throw error
    }
  }

  #lose(reason: string, message: string | undefined): void {
    this.#life += 1
    this.#opening = undefined
    this.#chain = undefined
    this.#lost = message
    for (const endSession of this.sessions) endSession(`the chain is lost: ${reason}`)
  }

  /** Milliseconds for which nobody opened it and it had neither requests nor WebSockets, as far as earlier calls saw it. */
  idleMs(): number {
    const now = this.#options.now()
    const isUsed = this.sessions.size > 0 || this.#running > 0 || this.isOpening
    if (this.#wasUsed || isUsed) this.#usedMs = now
    this.#wasUsed = false
    return now - this.#usedMs
  }

  /** Whoever still has the slot gets the reason as an error. To be called with the last `end` or `close`. */
  async retire(reason: string): Promise<void> {
    this.#gone = reason
    await this.#options.onDrop?.()
  }

  /** Ends the chain and its WebSockets; the next request begins it anew. */
  async end(reason: string): Promise<void> {
    await Promise.all([this.close(reason), this.#options.forget()])
  }

  /** Ends the chain's backend and its WebSockets; the next request opens a kept chain as it was. */
  async close(reason: string): Promise<void> {
    const opening = this.#opening
    this.#life += 1
    this.#opening = undefined
    this.#stopWaiting()
    this.#chain = undefined
    this.#lost = undefined
    this.#begunMs = this.#options.now()
    for (const endSession of this.sessions) endSession(reason)
    this.#closing = opening?.then(
      (chain) => chain?.close(),
      () => undefined,
    )
    await this.#closing
  }
}

/** An error for a request that reaches no chain. A batch gets one error. */
export function refusalOf(message: Uint8Array, error: ErrorObject): string {
  return writeError(idIn(message), error)
}
