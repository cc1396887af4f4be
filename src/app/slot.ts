// A chain at a path, which is opened by its first request and may be restarted.
import type { MaybePromise } from '../core/promises.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { Reply } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { Caller } from '../rpc/session.ts'
import { writeError } from '../rpc/wire.ts'
import type { EndSession, Target } from '../server/answer.ts'
import type { Backend } from './backend.ts'

interface SlotOptions {
  readonly name: string
  /** Opens the chain, also after a restart. */
  readonly open: () => Promise<Backend>
  /** On disk, if the chain is kept; read without opening the chain. */
  readonly kept: () => ChainState | undefined
  /** Forgets what is on disk. */
  readonly forget: () => MaybePromise<void>
  /** Milliseconds. */
  readonly now: () => number
  readonly onBug: (error: unknown) => void
}

export class ChainSlot implements Target {
  readonly name: string
  readonly sessions: Set<EndSession> = new Set()
  readonly #options: SlotOptions
  #opening: Promise<Backend> | undefined
  #backend: Backend | undefined
  #begunMs: number
  #usedMs: number
  /** Set by requests, which do not read the clock. */
  #wasUsed = true

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
  get backend(): Backend | undefined {
    return this.#backend
  }

  /** Seconds since it was made or restarted. */
  get age(): number {
    return (this.#options.now() - this.#begunMs) / 1000
  }

  /** The newest, also of a kept chain that is not open. */
  get state(): ChainState | undefined {
    return this.#backend?.node.chain.state ?? this.#options.kept()
  }

  get requests(): number {
    return this.#backend?.requests ?? 0
  }

  answer(caller: Caller, message: Uint8Array): MaybePromise<Reply> {
    this.#wasUsed = true
    if (this.#backend !== undefined) return this.#backend.answer(caller, message)
    return this.#answerOnceOpen(caller, message)
  }

  async #answerOnceOpen(caller: Caller, message: Uint8Array): Promise<Reply> {
    try {
      const backend = await this.open()
      return await backend.answer(caller, message)
    } catch (error) {
      return writeError(null, errorObjectOf(error, this.#options.onBug))
    }
  }

  /** Opens the chain if it is not open. Rejects as opening it does; the next call tries again. */
  open(): Promise<Backend> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open(): Promise<Backend> {
    try {
      this.#backend = await this.#options.open()
      return this.#backend
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  /** Milliseconds for which it had neither requests nor WebSockets, as far as earlier calls saw it. */
  idleMs(): number {
    const now = this.#options.now()
    if (this.#wasUsed || this.sessions.size > 0) this.#usedMs = now
    this.#wasUsed = false
    return now - this.#usedMs
  }

  /** Ends the chain and its WebSockets; the next request begins it anew. */
  async end(reason: string): Promise<void> {
    const closed = this.close(reason)
    await Promise.all([closed, this.#options.forget()])
  }

  /** Ends the chain's backend and its WebSockets; the next request opens a kept chain as it was. */
  async close(reason: string): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    this.#backend = undefined
    this.#begunMs = this.#options.now()
    for (const endSession of this.sessions) endSession(reason)
    const backend = await opening?.catch(() => undefined)
    await backend?.close()
  }
}
