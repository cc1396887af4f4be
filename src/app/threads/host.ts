// A thread's end: runs the chains that the main thread opens, and answers their requests.
import { DevchainError } from '../../core/errors.ts'
import { getOrMake } from '../../core/lrucache.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { AddedArtifacts } from '../../project/artifactsdoor.ts'
import type { Reply } from '../../rpc/dispatch.ts'
import { Caller } from '../../rpc/session.ts'
import { createSafeAnswer, type SafeAnswer } from '../../server/answer.ts'
import type { StoreOptions } from '../../store/chainstore.ts'
import { ChainStores } from '../../store/chainstores.ts'
import { type Backend, held, type Origin, openAtPath } from '../backend.ts'
import { type Common, type Hooks, openCommon } from '../common.ts'
import { openWire, type Wire } from '../dispatcher.ts'
import { type ChainPlace, Keeping } from '../keeping/keeping.ts'
import { Calls } from './calls.ts'
import {
  type ChainBeginning,
  type LongReply,
  type MainFunctions,
  type SentRequest,
  sentError,
  type ThreadFunctions,
  type ThreadOrder,
  type ThreadPort,
} from './messages.ts'
import { RemoteSession } from './sessions.ts'
import { receivedState, sentState, silentForking } from './states.ts'

interface KeptReply {
  readonly reply: Exclude<Reply, string | undefined>
  readonly session: number | undefined
}

/** Serves a thread until the port closes. */
export class Host {
  readonly #common: Common
  readonly #calls: Calls<MainFunctions, ThreadFunctions>
  readonly #answer: SafeAnswer
  readonly #chains = new Map<string, Backend>()
  readonly #sessions = new Map<number, RemoteSession>()
  /** Of HTTP requests that run, by their ids. */
  readonly #callers = new Map<number, Caller>()
  readonly #longReplies = new Map<number, KeptReply>()
  /** Artifacts from clients of other threads. */
  #taken: Promise<unknown> = Promise.resolve()
  #wire: Promise<Wire> | undefined
  #origin: Promise<Origin> | undefined

  constructor(port: ThreadPort, order: ThreadOrder, hooks: Hooks) {
    const onBug = (error: unknown): void => this.#calls.send('bug', sentError(error))
    this.#answer = createSafeAnswer(onBug)
    this.#calls = new Calls<MainFunctions, ThreadFunctions>(port, {
      open: (name, beginning) => this.#open(name, beginning),
      close: (name) => this.#close(name),
      end: () => this.#common.keeping?.close(),
      request: (request) => this.#request(request),
      forget: (id) => {
        this.#callers.get(id)?.hangUp()
        this.#longReplies.delete(id)
      },
      piece: (id, at) => this.#piece(id, at),
      sessionEnded: (id) => this.#endSession(id),
      sessionRead: (id, count) => this.#sessions.get(id)?.wasRead(count),
      facts: (name) => this.#chain(name).facts(),
      messages: (name) => this.#chain(name).messages(),
      state: async (name, block) => sentState(await this.#chain(name).stateAfter(block)),
      countedGas: () => this.#common.artifacts.countedGas(),
      countedCode: () => this.#common.artifacts.countedCode(),
      takeArtifacts: (added) => this.#takeArtifacts(added),
    })
    this.#common = openCommon({
      settings: order.settings,
      // the main thread reports what its own reader of artifacts finds
      hooks: { ...hooks, observer: { ...hooks.observer, onArtifacts: undefined } },
      // a program has its chains in its own thread: these are asked over the wire alone
      isListening: () => true,
      keeping: keptOf(order.settings, {
        leastCompacted: hooks.leastCompacted,
        onNotice: (text) => this.#calls.send('notice', text),
        onFailure: (text) => this.#calls.send('failure', text),
      }),
      otherThreads: {
        share: (added) => this.#calls.call('addArtifacts', added),
        countedCode: () => this.#calls.call('countedCode'),
      },
      chains: () => ({
        list: () => this.#calls.call('list'),
        create: (given) => this.#calls.call('create', given),
        drop: (name) => this.#calls.call('drop', name),
      }),
      onBug,
    })
    // a thread may have no chain for a while
    this.#common.artifacts.join(() => undefined)
    void this.#common.artifacts.read()
  }

  #request(request: SentRequest): MaybePromise<string | undefined | LongReply> {
    const { id, chain, session, isPage = false, body } = request
    const target = this.#chain(chain)
    const caller = session === undefined ? new Caller() : this.#session(session, isPage).caller
    this.#callers.set(id, caller)
    return whenThere(this.#answer(target, caller, Buffer.from(body, 'latin1')), (reply) => {
      this.#callers.delete(id)
      if (typeof reply !== 'object') return reply
      if (caller.aborted) return undefined
      this.#longReplies.set(id, { reply, session })
      return { size: reply.size, pieces: reply.pieces.length }
    })
  }

  async #piece(id: number, at: number): Promise<Uint8Array> {
    const piece = this.#longReplies.get(id)?.reply.pieces[at]
    if (piece === undefined) throw new DevchainError('CANCELLED', 'the client is gone')
    // without the rest of the memory that it may be a part of
    return new Uint8Array(typeof piece === 'function' ? await piece() : piece)
  }

  #session(id: number, isPage: boolean): RemoteSession {
    return getOrMake(this.#sessions, id, () => new RemoteSession(id, isPage, this.#calls))
  }

  #endSession(id: number): void {
    this.#sessions.get(id)?.end()
    this.#sessions.delete(id)
    for (const [reply, { session }] of this.#longReplies) {
      if (session === id) this.#longReplies.delete(reply)
    }
  }

  async #open(name: string, beginning: ChainBeginning): Promise<void> {
    const taken = this.#taken
    this.#chains.set(name, await this.#opened(name, beginning))
    await taken
    // the first calls of a chain have names, and are counted, as in the main thread
    await this.#common.artifacts.read()
  }

  #takeArtifacts(added: AddedArtifacts): Promise<number> {
    const taken = this.#common.artifacts.take(added)
    // one that failed is gone from the disk since
    this.#taken = Promise.allSettled([this.#taken, taken])
    return taken
  }

  async #opened(name: string, { kept, ...beginning }: ChainBeginning): Promise<Backend> {
    const { keeping } = this.#common
    if (kept === undefined) return this.#begun(name, beginning, undefined)
    try {
      await keeping?.open(name, kept.path, kept.fork)
      return await this.#begun(name, beginning, keeping?.place(name, kept.about))
    } catch (error) {
      await keeping?.release(name)
      throw error
    }
  }

  async #begun(
    name: string,
    { state, options }: ChainBeginning,
    kept: ChainPlace | undefined,
  ): Promise<Backend> {
    const common = this.#common
    this.#wire ??= openWire(common, common.settings)
    if (options !== undefined) {
      return await openAtPath(common, await this.#wire, name, { options }, kept)
    }
    if (state !== undefined) {
      void this.#origin?.then(leave, () => undefined)
      this.#origin = receivedState(state, common)
    }
    // at once, before another state replaces this one
    const origin =
      kept?.state === undefined
        ? this.#origin?.then(held)
        : { state: kept.state, forking: silentForking(common) }
    if (origin === undefined) throw new Error('a thread got no state to begin with')
    const [from, wire] = await Promise.all([origin, this.#wire])
    try {
      return await openAtPath(common, wire, name, { from }, kept)
    } finally {
      leave(from)
    }
  }

  async #close(name: string): Promise<void> {
    const chain = this.#chains.get(name)
    this.#chains.delete(name)
    await chain?.close()
    await this.#common.keeping?.release(name)
  }

  #chain(name: string): Backend {
    const chain = this.#chains.get(name)
    if (chain === undefined) throw new Error(`this thread has no chain ${name}`)
    return chain
  }
}

/** The chains of this thread on disk: the main thread says in which files. */
function keptOf(
  { state, ...settings }: DevchainSettings,
  options: Pick<StoreOptions, 'leastCompacted' | 'onNotice' | 'onFailure'>,
): Keeping | undefined {
  if (state === undefined) return undefined
  const hold = (swap: () => void): Promise<boolean> => keeping.hold(swap)
  const { durability } = settings
  const stores = new ChainStores({ ...options, durability, hold })
  const folder = { stores, close: () => stores.close() }
  const { onNotice } = options
  const keeping: Keeping = new Keeping({ settings: { ...settings, state }, onNotice, folder })
  return keeping
}

function leave({ forking }: Origin): void {
  forking.leaveAll()
}
