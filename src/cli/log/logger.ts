// The log of a running chain: groups events and writes them as text.
import type { ObservedCall, Observer } from '../../app/observer.ts'
import type { Hash } from '../../core/hex.ts'
import type { ProgressReport } from '../../core/progress.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { PeerEvent } from '../../node/peers.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { ProjectEvent } from '../../project/events.ts'
import type { Project } from '../../project/project.ts'
import { changesChain } from '../../rpc/method.ts'
import type { World } from '../../state/world.ts'
import { type LogContext, type LogRecord, withNames } from './context.ts'
import {
  type ChainEvent,
  COUNTED,
  type Counts,
  changeEvents,
  type HintEvent,
  hasEntered,
  type LineEvent,
  sentHash,
} from './events.ts'
import { Folding, type Renderer, type Screen, type TextWriter } from './folding.ts'
import { Hints } from './hints.ts'

/** Milliseconds for which a change waits for its call before it is logged alone. */
const CLAIM_MS = 10
/** Queued entries while names are looked up. */
const QUEUE_LIMIT = 10_000
/** Milliseconds to gather entries, and how many to write in a row: looking up names must not delay replies. */
const GATHER_MS = 20
const IN_A_ROW = 50
/** Changes that wait for their calls. */
const HELD_LIMIT = 1_000
/** Newest entries of a chain at a path, for its `/messages`. */
const RECENT = 20
/** Writes an entry; a promise if it waits for an explanation, unless `isNow`. */
type LogTask = (isNow: boolean) => Promise<void> | undefined

export type LogSettings = Pick<
  AllSettings,
  'noHints' | 'trace' | 'logOnly' | 'logExcept' | 'logChain' | 'verbose'
>

/** What the logs of all chains count together, also those of chains in other threads. */
export class LogTotals {
  readonly memory: SharedArrayBuffer
  readonly #counts: BigInt64Array

  /** @param memory of another thread's totals */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8 * COUNTED.length)) {
    this.memory = memory
    this.#counts = new BigInt64Array(memory)
  }

  /** @returns the count with it */
  add(name: keyof Counts, count = 1): number {
    const more = BigInt(count)
    return Number(Atomics.add(this.#counts, COUNTED.indexOf(name), more) + more)
  }

  get all(): Counts {
    const counts = COUNTED.map((name, at) => [name, Number(Atomics.load(this.#counts, at))])
    return Object.fromEntries(counts) as Counts
  }
}

interface Shared {
  readonly folding: Folding
  readonly hinted: Set<string>
  readonly totals: LogTotals
}

interface LogOptions {
  readonly renderer: Renderer
  readonly writer: TextWriter
  readonly screen?: Screen
  /** Hints, traces and shown methods; undefined: no hints. */
  readonly settings?: LogSettings
  readonly shared?: Partial<Shared>
  /** The chain's name; undefined for the default chain. */
  readonly chain?: string
  /** The logs of named chains, of which it is one. */
  readonly siblings?: Set<Logger>
}

export class Logger implements Observer {
  readonly #options: LogOptions
  readonly #shared: Shared
  readonly #chain: string | undefined
  readonly #named = new Set<Logger>()
  readonly #recent: LogRecord[] = []
  /** Another chain's log is wanted (`--log-chain`): only what is no call or block is written. */
  readonly #isMuted: boolean
  readonly #hints: Hints | undefined
  readonly #isShown: (method: string) => boolean
  readonly #beganMs = performance.now()
  #held: StateChange[] = []
  #claimTimer: NodeJS.Timeout | undefined
  #project: Project | undefined
  /** Entries written after replies, because looking up names takes time. */
  #queue: LogTask[] = []
  #queueTimer: NodeJS.Timeout | undefined
  #writeWaiting: (() => void) | undefined

  constructor(options: LogOptions) {
    const { renderer, writer, screen, settings, shared, chain } = options
    this.#options = options
    this.#chain = chain
    const { logChain } = settings ?? {}
    this.#isMuted = logChain !== undefined && logChain !== (chain ?? '/')
    this.#shared = {
      folding: shared?.folding ?? new Folding(renderer, writer, screen),
      hinted: shared?.hinted ?? new Set(),
      totals: shared?.totals ?? new LogTotals(),
    }
    this.#hints = settings && new Hints(settings, this.#shared.hinted)
    this.#isShown = shownMethods(settings)
  }

  get totals(): LogTotals {
    return this.#shared.totals
  }

  /** Writes lines that the log of another thread made. */
  foreign(text: string): void {
    this.#runQueue()
    this.#shared.folding.end()
    this.#options.writer.write(text)
  }

  /** The log of a named chain: same destination, each line with the name. */
  readonly ofChain = (name: string): Logger => {
    const log = new Logger({
      ...this.#options,
      shared: this.#shared,
      chain: name,
      siblings: this.#named,
    })
    this.#named.add(log)
    return log
  }

  /** The chain of a path ended: writes what is queued. */
  readonly onEnd = (): void => {
    this.finish()
    this.#options.siblings?.delete(this)
  }

  /** The newest entries of a chain at a path, one text each. */
  readonly messages = (): readonly string[] => {
    this.#runAll()
    return this.#recent.map((entry) => this.#options.renderer.entry(entry).trimEnd())
  }

  /** The chain's settings decide on hints. */
  readonly onChain = (chain: Pick<Chain, 'state'>): void => this.#hints?.watch(chain)

  readonly onProject = (project: Project): void => {
    this.#project = project
  }

  readonly onCall = (call: ObservedCall): void => {
    if (this.#isMuted || this.#isLeftOut(call)) return
    const changes = this.#claim(call)
    const id = this.#shared.totals.add('calls')
    if (call.error !== undefined) this.#shared.totals.add('failedCalls')
    const context = this.#context(changes.at(-1))
    this.#later((isNow) => {
      const last = changes.length - 1
      const events = changes.flatMap((change, i) =>
        changeEvents(change, i === last ? call : undefined),
      )
      const hints = (): void => this.#hint(this.#hints?.afterCall(call, events) ?? [])
      if (!this.#isShown(call.method)) {
        this.#count(events)
        hints()
        return undefined
      }
      const whole = { chain: this.#chain, call, id, count: 1, events, context }
      return this.#withStacks(whole, isNow, (entry) => {
        this.#write(entry)
        hints()
      })
    })
  }

  /** An open page reads with every block, which would drown the calls of others. */
  #isLeftOut({ isPageRead, console }: ObservedCall): boolean {
    return isPageRead === true && this.#options.settings?.verbose !== true && console.length === 0
  }

  /** Queues a change, which is logged with its call, or alone a little later. */
  readonly onChange = (change: StateChange): void => {
    if (this.#isMuted) return
    // blocks of peers have no call
    if (change.peer !== undefined) {
      this.#writeAlone(change)
      return
    }
    this.#held.push(change)
    if (this.#held.length >= HELD_LIMIT) this.#writeHeld()
    this.#claimTimer ??= setTimeout(() => this.#writeHeld(), CLAIM_MS).unref()
  }

  /** For a refused `Host` header. */
  readonly onForeignHost = (header: string): void => {
    this.#runQueue()
    this.#hint(this.#hints?.afterForeignHost(header) ?? [])
  }

  readonly onRunning = ({ name: method, ...report }: ProgressReport): void =>
    this.#line({ event: 'running', method, ...report })

  readonly onNotice = (text: string): void => this.#line({ event: 'notice', text })

  readonly onPeer = (event: PeerEvent): void => this.#line({ event: 'peer', ...event })

  readonly onArtifacts = (event: ProjectEvent): void => {
    if (!('hint' in event)) {
      this.#line(event)
      return
    }
    this.#runQueue()
    this.#hint(this.#hints?.onProject(event) ?? [])
  }

  readonly onBug = (error: unknown): void => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#line({ event: 'bug', stack })
  }

  finish(): void {
    for (const log of this.#named) log.finish()
    this.#writeHeld()
    this.#runAll()
    this.#shared.folding.end()
  }

  /** Writes queued entries and the totals. */
  end(): void {
    this.finish()
    const durationMs = Math.round(performance.now() - this.#beganMs)
    this.#line({ event: 'end', ...this.#shared.totals.all, durationMs })
  }

  #line(event: LineEvent): void {
    this.#runQueue()
    this.#shared.folding.end()
    this.#writeLine({ ...event, chain: this.#chain })
  }

  #writeLine(event: LineEvent): void {
    const { renderer, writer, screen } = this.#options
    writer.write(renderer.line(event, screen?.().columns))
  }

  /** With names, after the reply; else at once. */
  #later(task: LogTask): void {
    if (this.#project === undefined && this.#queue.length === 0) {
      void task(true)
      return
    }
    this.#queue.push(task)
    if (this.#queue.length >= QUEUE_LIMIT) this.#runAll()
    this.#queueTimer ??= setTimeout(() => this.#runQueue(IN_A_ROW), GATHER_MS).unref()
  }

  /**
   * Writes queued entries up to one that waits for an explanation, which continues by itself. @param most entries before
   * yielding
   */
  #runQueue(most = Number.POSITIVE_INFINITY): void {
    clearTimeout(this.#queueTimer)
    this.#queueTimer = undefined
    for (let count = 0; this.#writeWaiting === undefined; count++) {
      if (count >= most) {
        this.#queueTimer = setTimeout(() => this.#runQueue(most)).unref()
        return
      }
      const task = this.#queue.shift()
      if (task === undefined) return
      void task(false)?.then(() => this.#runQueue())
    }
  }

  #runAll(): void {
    clearTimeout(this.#queueTimer)
    this.#queueTimer = undefined
    this.#writeWaiting?.()
    for (const task of this.#queue.splice(0)) void task(true)
  }

  #withStacks(
    entry: LogRecord,
    isNow: boolean,
    write: (entry: LogRecord) => void,
  ): Promise<void> | undefined {
    const explaining = isNow ? undefined : withNames(entry)
    if (explaining === undefined) {
      write(entry)
      return undefined
    }
    let isWritten = false
    const writeOnce = (found: LogRecord): void => {
      if (isWritten) return
      isWritten = true
      this.#writeWaiting = undefined
      write(found)
    }
    this.#writeWaiting = () => writeOnce(entry)
    return explaining.then(writeOnce, () => writeOnce(entry))
  }

  /** Names are looked up in the state after the change, or in the current one. */
  #context(change: StateChange | undefined): LogContext | undefined {
    const project = this.#project
    if (project === undefined) return undefined
    const world = change === undefined ? project.names.world : headOf(change.after.tree).world
    const traces = this.#options.settings?.trace
    return { project, world, before: change && worldBefore(change), traces }
  }

  #hint(hints: readonly HintEvent[]): void {
    if (hints.length === 0) return
    // below the entry that caused it, which is not redrawn any more
    this.#shared.folding.end()
    for (const hint of hints) this.#writeLine({ ...hint, chain: this.#chain })
  }

  /**
   * The queued changes made by this call. Reads made none; a send made the one with its transaction, even if it
   * returned its revert as an error; other failed calls changed nothing.
   */
  #claim(call: ObservedCall): readonly StateChange[] {
    if (this.#held.length === 0 || !changesChain(call)) return []
    const hash = sentHash(call)
    if (call.error !== undefined && hash === undefined) return []
    const end = call.effects === 'transaction' ? this.#endOfSend(hash) : this.#held.length
    const claimed = this.#held.slice(0, end)
    this.#held = this.#held.slice(end)
    return claimed
  }

  #endOfSend(hash: Hash | undefined): number {
    if (hash === undefined) return 0
    return this.#held.findIndex((change) => hasTransaction(change, hash)) + 1
  }

  #writeHeld(): void {
    clearTimeout(this.#claimTimer)
    this.#claimTimer = undefined
    const held = this.#held
    this.#held = []
    for (const change of held) this.#writeAlone(change)
  }

  #writeAlone(change: StateChange): void {
    const context = this.#context(change)
    this.#later((isNow) => {
      const events = changeEvents(change, undefined)
      if (events.length === 0) return undefined
      const entry = { chain: this.#chain, call: undefined, count: 1, events, context }
      return this.#withStacks(entry, isNow, (found) => this.#write(found))
    })
  }

  #write(entry: LogRecord): void {
    if (entry.events.length > 0) this.#count(entry.events)
    this.#shared.folding.add(entry)
    if (this.#chain === undefined) return
    this.#recent.push(entry)
    if (this.#recent.length > RECENT) this.#recent.shift()
  }

  #count(events: readonly ChainEvent[]): void {
    const { totals } = this.#shared
    for (const event of events) {
      if (event.event === 'block') totals.add('blocks', Number(event.number - event.first) + 1)
      if (event.event !== 'transaction') continue
      totals.add('transactions')
      if (event.failure !== undefined) totals.add('failedTransactions')
    }
  }
}

/** Methods shown (`--log-only`, `--log-except`); `*` matches any characters. */
function shownMethods(settings: LogSettings | undefined): (method: string) => boolean {
  const { logOnly = [], logExcept = [] } = settings ?? {}
  if (logOnly.length + logExcept.length === 0) return () => true
  const [only, except] = [logOnly, logExcept].map((patterns) => patterns.map(methodPattern))
  return (method) =>
    (logOnly.length === 0 || only!.some((pattern) => pattern.test(method))) &&
    !except!.some((pattern) => pattern.test(method))
}

export function methodPattern(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
}

function hasTransaction(change: StateChange, hash: Hash): boolean {
  const isMined = [...change.head.added.filled()].some(({ block }) =>
    block.transactions.some((transaction) => transaction.hash === hash),
  )
  return isMined || hasEntered(change, hash)
}

/** The state before a change of one block with one transaction. */
function worldBefore({ before, after }: StateChange): World | undefined {
  const [old, { block }] = [headOf(before.tree), headOf(after.tree)]
  const isOne = block.header.parentHash === old.block.hash && block.transactions.length === 1
  return isOne ? old.world : undefined
}
