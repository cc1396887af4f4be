// The main thread's end of a thread: passes requests on, and gets replies, notifications and lines of the log back.
import { DevchainError } from '../../core/errors.ts'
import type { ChainOrder, ChainsDoor } from '../../methods/common/chains.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { OtherThreads } from '../../project/artifactsdoor.ts'
import type { Reply } from '../../rpc/dispatch.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Caller, Session } from '../../rpc/session.ts'
import type { Origin } from '../backend.ts'
import type { ChainFacts } from '../chainfacts.ts'
import type { LentPlace } from '../keeping/keeping.ts'
import { type OnLost, refusalOf, type ServedChain } from '../slot.ts'
import { Calls } from './calls.ts'
import {
  type ByteText,
  type ChainBeginning,
  type FromThread,
  type NotifyMessage,
  readError,
  type SentState,
  type ThreadPort,
  type ToThread,
} from './messages.ts'

export interface ThreadOptions {
  readonly port: ThreadPort<ToThread, FromThread>
  /** Stops the thread. */
  readonly stop: () => Promise<unknown>
  readonly chains: () => ChainsDoor
  /** What the thread may call besides. */
  readonly others: OtherThreads
  readonly receive: (state: SentState) => Promise<Origin>
  readonly onNotice: (text: string) => void
  readonly onText: (text: string) => void
  readonly onBug: (error: unknown) => void
}

interface OpenChain {
  readonly kept: LentPlace | undefined
  /** Undefined until it is open. */
  readonly onLost?: OnLost
}

interface Asked {
  readonly chain: string
  readonly body: Uint8Array
  readonly caller: Caller
  readonly resolve: (reply: Reply) => void
  /** Stops listening for the caller's end. */
  readonly leave: () => void
}

export class Thread {
  readonly #options: ThreadOptions
  readonly #post: ThreadPort<ToThread, FromThread>['post']
  readonly #calls: Calls
  readonly #chains = new Map<string, OpenChain>()
  readonly #asked = new Map<number, Asked>()
  readonly #sessions = new Map<number, Session>()
  #nextId = 1
  #lost: string | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#post = options.port.post
    const { chains, others } = options
    this.#calls = new Calls(this.#post, {
      list: () => chains().list(),
      create: (order: ChainOrder) => chains().create(order),
      drop: (name: string) => chains().drop(name),
      addArtifacts: others.share,
      countedCode: others.countedCode,
    })
    options.port.onMessage((message) => this.#take(message))
  }

  /** Chains that run here, or are about to. */
  get size(): number {
    return this.#chains.size
  }

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
    beginning: Omit<ChainBeginning, 'kept'>,
    onLost: OnLost,
    kept: LentPlace | undefined,
  ): Promise<ServedChain> {
    // until it is open, whoever asks for it gets the error itself
    this.#chains.set(name, { kept })
    try {
      await this.#calls.call('open', name, { ...beginning, kept: kept && sentPlace(kept) })
      this.#chains.set(name, { kept, onLost })
    } catch (error) {
      this.#chains.delete(name)
      await kept?.giveBack()
      throw error
    }
    return new RemoteChain(this, name)
  }

  async close(name: string): Promise<void> {
    const open = this.#chains.get(name)
    this.#chains.delete(name)
    try {
      if (!this.isLost) await this.#calls.call('close', name)
    } finally {
      await open?.kept?.giveBack()
    }
  }

  async origin(name: string, block: BlockReference | undefined): Promise<Origin> {
    const state = (await this.#calls.call('state', name, block)) as SentState
    return await this.#options.receive(state)
  }

  call(name: string, ...values: readonly unknown[]): Promise<unknown> {
    return this.#calls.call(name, ...values)
  }

  request(chain: string, caller: Caller, body: Uint8Array): Promise<Reply> {
    const id = this.#nextId++
    const { session } = caller
    if (session !== undefined) this.#join(session)
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
    this.#post({
      kind: 'request',
      id,
      chain,
      session: session?.id,
      isPage: session?.isPage,
      body: text,
    })
    const leave =
      session === undefined
        ? caller.onHangUp(() => this.#post({ kind: 'forget', id }))
        : () => undefined
    return new Promise((resolve) => {
      this.#asked.set(id, { chain, body, caller, resolve, leave })
    })
  }

  /** Its chains end with it: clients that wait get an error. */
  lose(reason: string): void {
    if (this.isLost) return
    this.#lost = reason
    const known = new Set<string>()
    for (const { chain, body, resolve, leave } of this.#asked.values()) {
      known.add(chain)
      leave()
      resolve(refusalOf(body, this.#lostMessage(chain, reason)))
    }
    this.#asked.clear()
    this.#calls.fail(new DevchainError('CANCELLED', reason))
    for (const [name, { kept, onLost }] of this.#chains) {
      // one that is being opened gives it back when that fails
      if (onLost !== undefined) void kept?.giveBack()
      onLost?.(reason, known.has(name) ? undefined : this.#lostMessage(name, reason))
    }
    this.#chains.clear()
  }

  #lostMessage(name: string, reason: string): string {
    const isKept = this.#chains.get(name)?.kept !== undefined
    const next = isKept ? 'opens it as it is on disk' : 'begins it anew'
    return `the chain at /${name} is lost: ${reason}; the next request ${next}`
  }

  /** Its chains are closed. */
  async stop(): Promise<void> {
    if (!this.isLost) await this.#calls.call('end')
    this.#lost ??= 'devchain is stopping'
    await this.#options.stop()
  }

  #take(message: FromThread): void {
    switch (message.kind) {
      case 'reply':
        this.#settle(message.id, message.reply)
        break
      case 'longReply':
        if (message.whole === undefined) this.#settleLong(message.id, message.size, message.pieces)
        else this.#settleWhole(message.id, message.size, message.whole)
        break
      case 'notify':
        this.#notify(message)
        break
      case 'cutOff':
        this.#sessions.get(message.session)?.cutOff()
        break
      case 'call':
      case 'result':
        this.#calls.take(message)
        break
      case 'log':
        this.#options.onText(message.text)
        break
      case 'notice':
        this.#options.onNotice(message.text)
        break
      case 'bug':
        this.#options.onBug(readError(message.failure))
        break
    }
  }

  #settle(id: number, reply: Reply): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    asked?.leave()
    asked?.resolve(reply)
  }

  #settleWhole(id: number, size: number, whole: ByteText): void {
    const pieces = [Buffer.from(whole, 'latin1')]
    this.#settle(id, new JsonText(() => ({ size, pieces })))
  }

  #settleLong(id: number, size: number, count: number): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    // each piece is read once: then the thread forgets them all
    const pieceAt = async (at: number): Promise<Buffer> => {
      const bytes = (await this.#calls.call('piece', id, at)) as Uint8Array
      if (at === count - 1) {
        asked?.leave()
        this.#post({ kind: 'forget', id })
      }
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    }
    const pieces = Array.from({ length: count }, (_, at) => () => pieceAt(at))
    asked?.resolve(new JsonText(() => ({ size, pieces })))
  }

  #join(session: Session): void {
    if (this.#sessions.has(session.id)) return
    this.#sessions.set(session.id, session)
    session.onClose(() => {
      this.#sessions.delete(session.id)
      this.#post({ kind: 'sessionEnded', session: session.id })
    })
  }

  #notify({ session: id, method, params }: NotifyMessage): void {
    const onWritten = (): void =>
      this.#post({ kind: 'sessionRead', session: id, count: params.length })
    const most = params.length
    this.#sessions.get(id)?.notify(method, { most, params: reporting(params, onWritten) })
  }
}

/** Without its function. */
function sentPlace({ path, about, fork }: LentPlace): ChainBeginning['kept'] {
  return { path, about, fork }
}

function* reporting(params: readonly Json[], onWritten: () => void): Generator<Json> {
  yield* params
  onWritten()
}

/** A chain that runs in a thread. */
class RemoteChain implements ServedChain {
  readonly #thread: Thread
  readonly #name: string
  #requests = 0

  constructor(thread: Thread, name: string) {
    this.#thread = thread
    this.#name = name
  }

  get requests(): number {
    return this.#requests
  }

  answer(caller: Caller, message: Uint8Array): Promise<Reply> {
    this.#requests += 1
    return this.#thread.request(this.#name, caller, message)
  }

  facts(): Promise<ChainFacts> {
    return this.#thread.call('facts', this.#name) as Promise<ChainFacts>
  }

  messages(): Promise<readonly string[]> {
    return this.#thread.call('messages', this.#name) as Promise<readonly string[]>
  }

  heldOrigin(block?: BlockReference): Promise<Origin> {
    return this.#thread.origin(this.#name, block)
  }

  close(): Promise<void> {
    return this.#thread.close(this.#name)
  }
}
