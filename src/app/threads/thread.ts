// The main thread's end of a thread: passes requests on, and gets replies, notifications and lines of the log back.
import { DevchainError, ERROR_CODES } from '../../core/errors.ts'
import type { Reply } from '../../rpc/dispatch.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Caller, Session } from '../../rpc/session.ts'
import type { Origin } from '../backend.ts'
import type { LentPlace } from '../keeping/keeping.ts'
import { type OnLost, refusalOf, type ServedChain } from '../slot.ts'
import { Calls } from './calls.ts'
import type {
  ChainBeginning,
  LongReply,
  MainFunctions,
  SentState,
  ThreadFunctions,
  ThreadPort,
} from './messages.ts'

export interface ThreadOptions {
  readonly port: ThreadPort & { unref(): void }
  /** Stops the thread. */
  readonly stop: () => Promise<unknown>
  /** What the thread may call besides. */
  readonly functions: Omit<MainFunctions, 'notify' | 'hold' | 'cutOff'>
  readonly receive: (state: SentState) => Promise<Origin>
}

interface OpenChain {
  readonly kept: LentPlace | undefined
  /** Undefined until it is open. */
  readonly onLost?: OnLost
}

export class Thread {
  readonly #options: ThreadOptions
  readonly calls: Calls<ThreadFunctions, MainFunctions>
  readonly #chains = new Map<string, OpenChain>()
  /** The chains of requests that run, by their ids. */
  readonly #asked = new Map<number, string>()
  readonly #sessions = new Map<number, Session>()
  #nextId = 1
  #lost: string | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    const { port, functions } = options
    this.calls = new Calls<ThreadFunctions, MainFunctions>(port, {
      ...functions,
      notify: (session, method, params) => this.#notify(session, method, params),
      hold: (session) => this.#sessions.get(session)?.hold(),
      cutOff: (session) => this.#sessions.get(session)?.cutOff(),
    })
    port.unref()
  }

  /** Of chains that run here, or are about to. */
  get names(): readonly string[] {
    return [...this.#chains.keys()]
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /**
   * Rejects as opening the chain does.
   * @param kept where the chain is on disk; given back when the chain ends
   */
  async open(
    name: string,
    beginning: ChainBeginning,
    kept: LentPlace | undefined,
    onLost: OnLost,
  ): Promise<ServedChain> {
    // until it is open, whoever asks for it gets the error itself
    this.#chains.set(name, { kept })
    try {
      await this.calls.call('open', name, { ...beginning, kept: kept?.sent })
      this.#chains.set(name, { kept, onLost })
    } catch (error) {
      this.#chains.delete(name)
      await kept?.giveBack()
      throw error
    }
    return this.#served(name)
  }

  #served(name: string): ServedChain {
    let requests = 0
    return {
      get requests() {
        return requests
      },
      answer: (caller, message) => {
        requests += 1
        return this.#request(name, caller, message)
      },
      facts: () => this.calls.call('facts', name),
      messages: () => this.calls.call('messages', name),
      heldOrigin: async (block) =>
        this.#options.receive(await this.calls.call('state', name, block)),
      close: () => this.#close(name),
    }
  }

  async #close(name: string): Promise<void> {
    const open = this.#chains.get(name)
    this.#chains.delete(name)
    try {
      if (!this.isLost) await this.calls.call('close', name)
    } finally {
      await open?.kept?.giveBack()
    }
  }

  async #request(chain: string, caller: Caller, message: Uint8Array): Promise<Reply> {
    const id = this.#nextId++
    const { session } = caller
    if (session !== undefined) this.#join(session)
    const open = this.#chains.get(chain)
    const body = Buffer.from(message.buffer, message.byteOffset, message.length).toString('latin1')
    const of = { session: session?.id, isPage: session?.isPage }
    const leave =
      session === undefined ? caller.onHangUp(() => this.calls.send('forget', id)) : undefined
    this.#asked.set(id, chain)
    try {
      const reply = await this.calls.call('request', { id, chain, ...of, body })
      if (typeof reply === 'object') return this.#longReply(id, reply, leave)
      leave?.()
      return reply
    } catch (error) {
      if (this.#lost === undefined) throw error
      leave?.()
      const why = lostMessage(chain, open, this.#lost)
      return refusalOf(message, { code: ERROR_CODES.CANCELLED, message: why })
    } finally {
      this.#asked.delete(id)
    }
  }

  /** Its chains end with it: clients that wait get an error. */
  lose(reason: string): void {
    if (this.isLost) return
    this.#lost = reason
    const known = new Set(this.#asked.values())
    this.calls.fail(new DevchainError('CANCELLED', reason))
    for (const [name, open] of this.#chains) {
      // one that is being opened gives it back when that fails
      if (open.onLost !== undefined) void open.kept?.giveBack()
      open.onLost?.(reason, known.has(name) ? undefined : lostMessage(name, open, reason))
    }
    this.#chains.clear()
  }

  /** Its chains are closed. */
  async stop(): Promise<void> {
    if (!this.isLost) await this.calls.call('end')
    this.#lost ??= 'devchain is stopping'
    await this.#options.stop()
  }

  #longReply(id: number, reply: LongReply, leave: (() => void) | undefined): JsonText {
    const { size, pieces: count } = reply
    // each piece is read once: then the thread forgets them all
    const pieceAt = async (at: number): Promise<Buffer> => {
      const bytes = await this.calls.call('piece', id, at)
      if (at === count - 1) {
        leave?.()
        this.calls.send('forget', id)
      }
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    }
    const pieces = Array.from({ length: count }, (_, at) => () => pieceAt(at))
    return new JsonText(() => ({ size, pieces }))
  }

  #join(session: Session): void {
    if (this.#sessions.has(session.id)) return
    this.#sessions.set(session.id, session)
    session.onClose(() => {
      this.#sessions.delete(session.id)
      this.calls.send('sessionEnded', session.id)
    })
  }

  #notify(session: number, method: string, params: readonly Json[]): void {
    const most = params.length
    const onWritten = (): void => this.calls.send('sessionRead', session, most)
    this.#sessions.get(session)?.notify(method, { most, params: reporting(params, onWritten) })
  }
}

function lostMessage(name: string, open: OpenChain | undefined, reason: string): string {
  const next = open?.kept === undefined ? 'begins it anew' : 'opens it as it is on disk'
  return `the chain at /${name} is lost: ${reason}; the next request ${next}`
}

function* reporting(params: readonly Json[], onWritten: () => void): Generator<Json> {
  yield* params
  onWritten()
}
