// The threads of a program: spreads chains over them, and starts one when there is a chain for it.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import { invalidParams } from '../../core/errors.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { AddedArtifacts } from '../../project/artifactsdoor.ts'
import type { CountedCode } from '../../project/coverage/collect.ts'
import type { CountedGas } from '../../project/gas/report.ts'
import type { Begun, Origin } from '../backend.ts'
import { listed } from '../chains.ts'
import type { Common, Hooks } from '../common.ts'
import type { LentPlace } from '../keeping/keeping.ts'
import { ownSettings } from '../settings.ts'
import type { OnLost, ServedChain } from '../slot.ts'
import { Host } from './host.ts'
import { type ChainBeginning, readError, type ThreadOrder } from './messages.ts'
import { canBeSent, hasPlainFork, receivedState, sentState } from './states.ts'
import { Thread, type ThreadOptions } from './thread.ts'

/** In the built program. */
const PROGRAM = '../thread.cjs'

/** As many as a reader of artifacts keeps. */
const MOST_ADDED = 100

const LOST = 'coverage is incomplete: it lacks what ran in a thread that ended'

interface Member {
  readonly thread: Thread
  /** The last state that it got: most chains begin with the same. */
  origin: ChainState | undefined
}

export class Threads {
  readonly #common: Common
  readonly #count: number
  readonly #members: Member[] = []
  readonly #sentOf = memoizeByIdentity(sentState)
  /** The newest from clients, for threads that start later. */
  readonly #added: AddedArtifacts[] = []
  #hasLost = false

  constructor(common: Common) {
    this.#common = common
    const { threads } = common.settings
    this.#count = threads === 'auto' ? availableParallelism() : threads
  }

  takes(begun: Begun): boolean {
    const { settings } = this.#common
    if ('options' in begun) return hasPlainFork(ownSettings(settings, begun.options))
    return canBeSent(begun.from, settings)
  }

  /**
   * A state is sent as bytes. Rejects as opening the chain does.
   * @param begun undefined for a chain that is on disk
   * @param kept its place on disk; undefined: it is in memory only
   */
  open(
    name: string,
    begun: Begun | undefined,
    kept: LentPlace | undefined,
    onLost: OnLost,
  ): Promise<ServedChain> {
    const member = this.#next()
    const sent = begun && ('options' in begun ? begun : this.#sentTo(member, begun.from))
    return member.thread.open(name, sent ?? {}, kept, onLost)
  }

  #sentTo(member: Member, { state }: Origin): ChainBeginning {
    if (member.origin === state) return {}
    member.origin = state
    return { state: this.#sentOf(state) }
  }

  /**
   * Gives artifacts of a client to all threads.
   * @param from the one that has them; undefined for this thread
   */
  async share(added: AddedArtifacts, from: Thread | undefined): Promise<void> {
    this.#added.push(added)
    if (this.#added.length > MOST_ADDED) this.#added.shift()
    const others = this.#members.filter(({ thread }) => thread !== from)
    // a thread that ends meanwhile needs none
    await Promise.allSettled(others.map(({ thread }) => thread.calls.call('takeArtifacts', added)))
  }

  /** The gas that chains used in each thread. */
  async countedGas(): Promise<readonly CountedGas[]> {
    return await this.#ofEach((thread) => thread.calls.call('countedGas'))
  }

  /**
   * What chains ran in each thread.
   * @param from the thread that knows its own; undefined for this one
   */
  async countedCode(from: Thread | undefined): Promise<readonly CountedCode[]> {
    const own = from === undefined ? [] : [await this.#common.artifacts.countedCode()]
    const others = await this.#ofEach((thread) => thread.calls.call('countedCode'), from)
    return [...own, ...others, { codes: [], warning: this.#hasLost ? LOST : undefined }]
  }

  /** Calls a function in each thread but one. A thread that ends meanwhile has no result. */
  async #ofEach<T>(call: (thread: Thread) => Promise<T>, except?: Thread): Promise<readonly T[]> {
    const called = this.#members.map(async ({ thread }) => {
      if (thread === except) return undefined
      return await call(thread).catch((error: unknown) => {
        if (!thread.isLost) throw error
        return undefined
      })
    })
    return (await Promise.all(called)).filter((result) => result !== undefined)
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ thread }) => thread.stop()))
  }

  /** The thread with the fewest chains; a new one while there may be more. */
  #next(): Member {
    const sizeOf = ({ thread }: Member): number => thread.names.length
    const [least] = this.#members.toSorted((a, b) => sizeOf(a) - sizeOf(b))
    const isFull = this.#members.length >= this.#count
    return least !== undefined && (isFull || sizeOf(least) === 0) ? least : this.#start()
  }

  #start(): Member {
    const { settings, hooks, chains, onBug } = this.#common
    const order: ThreadOrder = {
      settings: hasPlainFork(settings) ? settings : { ...settings, fork: undefined },
      folder: hooks.folder,
      isPlain: hooks.isPlain,
      leastCompacted: hooks.leastCompacted,
      log: hooks.observer?.inThreads?.order,
    }
    const program = fileURLToPath(new URL(PROGRAM, import.meta.url))
    const { onEnd, ...started } = existsSync(program)
      ? inWorker(program, order, hooks)
      : inThisThread(order, hooks)
    const thread: Thread = new Thread({
      ...started,
      receive: (state) => receivedState(state, this.#common),
      functions: {
        list: () => chains().list(),
        create: (given) => chains().create(given),
        drop: (name) => chains().drop(name),
        addArtifacts: async (added) => {
          await this.#common.artifacts.take(added)
          await this.share(added, thread)
        },
        countedCode: () => this.countedCode(thread),
        log: (text) => hooks.observer?.inThreads?.write(text),
        notice: (text) => hooks.observer?.onNotice?.(text),
        failure: (text) => (hooks.observer?.onFailure ?? hooks.observer?.onNotice)?.(text),
        bug: (failure) => onBug(readError(failure)),
      },
    })
    for (const each of this.#added) thread.calls.call('takeArtifacts', each).catch(() => undefined)
    const member = { thread, origin: undefined }
    this.#members.push(member)
    onEnd((reason) => this.#lose(member, reason))
    return member
  }

  #lose(member: Member, reason: string): void {
    const { thread } = member
    if (thread.isLost) return
    this.#hasLost = true
    const names = thread.names.map((name) => `/${name}`)
    this.#members.splice(this.#members.indexOf(member), 1)
    thread.lose(reason)
    const chains = names.length === 1 ? 'the chain' : 'the chains'
    const { onNotice, onFailure = onNotice } = this.#common.hooks.observer ?? {}
    onFailure?.(`a thread ended, and with it ${chains} ${listed(names)}: ${reason}`)
  }
}

interface Started extends Pick<ThreadOptions, 'port' | 'stop'> {
  /** Gets a function that is called with why the thread ended. */
  readonly onEnd: (listener: (reason: string) => void) => void
}

function inWorker(program: string, order: ThreadOrder, { environment, observer }: Hooks): Started {
  if (environment !== undefined || (observer?.ofChain && !observer.inThreads)) {
    const message =
      'threads: functions of a program (environment, observer.ofChain) cannot run in another thread'
    throw invalidParams(message)
  }
  const worker = new Worker(program, { workerData: order })
  let reason: string | undefined
  worker.on('error', (error: NodeJS.ErrnoException) => {
    reason =
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? 'its thread ran out of memory'
        : `its thread failed: ${error.message}`
  })
  return {
    port: worker,
    stop: () => worker.terminate(),
    onEnd: (listener) =>
      worker.on('exit', (code) => listener(reason ?? `its thread ended with exit code ${code}`)),
  }
}

/** Without the built program, the same messages in this thread. */
function inThisThread(order: ThreadOrder, hooks: Hooks): Started {
  const { port1, port2 } = new MessageChannel()
  new Host(port2, structuredClone(order), hooks)
  port2.unref()
  return {
    port: port1,
    stop: async () => port1.close(),
    onEnd: (listener) => port1.on('close', () => listener('its thread ended')),
  }
}
