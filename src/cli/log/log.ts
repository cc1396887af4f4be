// The log of a running chain: gathers what belongs together, and hands it on as text.
import type { Hash } from '../../core/hex.ts'
import type { ProgressReport } from '../../core/progress.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { PeerEvent } from '../../node/peers.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { ProjectEvent } from '../../project/events.ts'
import type { Names } from '../../project/naming/names.ts'
import { changesChain } from '../../rpc/method.ts'
import type { World } from '../../state/world.ts'
import {
  type CallEvent,
  type ChainEvent,
  changeEvents,
  type HintEvent,
  hasEntered,
  type LineEvent,
  sentHash,
} from './events.ts'
import { Folding, type Renderer, type Screen, type TextWriter } from './folding.ts'
import { Hints } from './hints.ts'
import { type Entry, type Scene, withNames } from './scene.ts'

/** How long changes wait for the call that made them before they are logged alone. */
const CLAIM_MS = 10
/** Entries that wait for their turn at most, where names are looked up. */
const QUEUE_LIMIT = 10_000
/** How long entries wait for others, and how many are told in a row: to look names up leaves replies their turn. */
const GATHER_MS = 20
const IN_A_ROW = 50
/** How many changes wait for their calls at most. */
const HELD_LIMIT = 1_000
/** Tells an entry; a promise where it waits for an explanation. With `isNow` it does not. */
type Teller = (isNow: boolean) => Promise<void> | undefined

/** The options that decide on what a log has. */
export type LogSettings = Pick<
  AllSettings,
  'noHints' | 'defaultGas' | 'trace' | 'logOnly' | 'logExcept'
>

/** What the logs of several chains have in common. */
interface Shared {
  readonly folding: Folding
  readonly hinted: Set<string>
  readonly totals: {
    calls: number
    failedCalls: number
    transactions: number
    failedTransactions: number
    blocks: number
  }
}

export class Log {
  readonly #renderer: Renderer
  readonly #writer: TextWriter
  readonly #screen: Screen
  readonly #settings: LogSettings | undefined
  readonly #shared: Shared
  readonly #folding: Folding
  /** Of the chain that is logged here; undefined: it has none. */
  readonly #chain: string | undefined
  readonly #named: Log[] = []
  readonly #hints: Hints | undefined
  readonly #isShown: (method: string) => boolean
  readonly #beganMs = performance.now()
  readonly #totals: Shared['totals']
  #held: StateChange[] = []
  #claimTimer: NodeJS.Timeout | undefined
  #names: Names | undefined
  /** What is told after replies: to look names up takes time. */
  #queue: Teller[] = []
  #queueTimer: NodeJS.Timeout | undefined
  /** Tells what waits for an explanation, without it. */
  #tellWaiting: (() => void) | undefined

  /** @param settings which hints and traces are given, and of which methods; without them there are no hints */
  constructor(
    renderer: Renderer,
    writer: TextWriter,
    screen: Screen,
    settings?: LogSettings,
    shared?: Shared,
    chain?: string,
  ) {
    this.#renderer = renderer
    this.#writer = writer
    this.#screen = screen
    this.#settings = settings
    this.#chain = chain
    this.#shared = shared ?? {
      folding: new Folding(renderer, writer, screen),
      hinted: new Set(),
      totals: { calls: 0, failedCalls: 0, transactions: 0, failedTransactions: 0, blocks: 0 },
    }
    this.#folding = this.#shared.folding
    this.#totals = this.#shared.totals
    this.#hints = settings && new Hints(settings, this.#shared.hinted)
    this.#isShown = shownMethods(settings)
  }

  /** The log of a chain that has a name: it goes to the same place, and its lines have the name. */
  ofChain(name: string): Log {
    const log = new Log(
      this.#renderer,
      this.#writer,
      this.#screen,
      this.#settings,
      this.#shared,
      name,
    )
    this.#named.push(log)
    return log
  }

  /** What this chain's settings are decides on hints. */
  watch(chain: Pick<Chain, 'state'>): void {
    this.#hints?.watch(chain)
  }

  /** Tells names from now on. */
  use(names: Names): void {
    this.#names = names
  }

  call(call: CallEvent): void {
    const changes = this.#claim(call)
    this.#totals.calls += 1
    if (call.error !== undefined) this.#totals.failedCalls += 1
    const id = this.#totals.calls
    const scene = this.#scene(changes.at(-1))
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
      const told = { chain: this.#chain, call, id, count: 1, events, scene }
      return this.#withStacks(told, isNow, (entry) => {
        this.#tell(entry)
        hints()
      })
    })
  }

  /** Notes a change, which is logged with the call that made it, or alone a little later. */
  change(change: StateChange): void {
    // blocks of peers are no call's doing
    if (change.peer !== undefined) {
      this.#tellAlone(change)
      return
    }
    this.#held.push(change)
    if (this.#held.length >= HELD_LIMIT) this.#tellHeld()
    this.#claimTimer ??= setTimeout(() => this.#tellHeld(), CLAIM_MS).unref()
  }

  /** Takes note of a request that was refused because of the `Host` that it named. */
  foreignHost(header: string): void {
    this.#tellQueue()
    this.#hint(this.#hints?.afterForeignHost(header) ?? [])
  }

  running({ name, durationMs, gasUsed, others }: ProgressReport): void {
    this.#line({ event: 'running', method: name, durationMs, gasUsed, others })
  }

  notice(text: string): void {
    this.#line({ event: 'notice', text })
  }

  peer(event: PeerEvent): void {
    this.#line({ event: 'peer', ...event })
  }

  artifacts(event: ProjectEvent): void {
    if (!('hint' in event)) {
      this.#line(event)
      return
    }
    this.#tellQueue()
    this.#hint(this.#hints?.onProject(event) ?? [])
  }

  bug(error: unknown): void {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#line({ event: 'bug', stack })
  }

  finish(): void {
    for (const log of this.#named) log.finish()
    this.#tellHeld()
    this.#tellAll()
    this.#folding.end()
  }

  /** Writes what waits, and what there was in all. */
  end(): void {
    this.finish()
    const durationMs = Math.round(performance.now() - this.#beganMs)
    this.#line({ event: 'end', ...this.#totals, durationMs })
  }

  /** Tells what happened in a line of its own, below what came before. */
  #line(event: LineEvent): void {
    this.#tellQueue()
    this.#folding.end()
    this.#writer.write(this.#renderer.line({ ...event, chain: this.#chain }))
  }

  /** Where there are names, after the reply; else at once. */
  #later(tell: Teller): void {
    if (this.#names === undefined && this.#queue.length === 0) {
      void tell(true)
      return
    }
    this.#queue.push(tell)
    if (this.#queue.length >= QUEUE_LIMIT) this.#tellAll()
    this.#queueTimer ??= setTimeout(() => this.#tellQueue(IN_A_ROW), GATHER_MS).unref()
  }

  /** Tells what waits, up to what has to be explained first: that goes on by itself. @param most told until others have a turn */
  #tellQueue(most = Number.POSITIVE_INFINITY): void {
    clearTimeout(this.#queueTimer)
    this.#queueTimer = undefined
    for (let told = 0; this.#tellWaiting === undefined; told++) {
      if (told >= most) {
        this.#queueTimer = setTimeout(() => this.#tellQueue(most)).unref()
        return
      }
      const tell = this.#queue.shift()
      if (tell === undefined) return
      void tell(false)?.then(() => this.#tellQueue())
    }
  }

  #tellAll(): void {
    clearTimeout(this.#queueTimer)
    this.#queueTimer = undefined
    this.#tellWaiting?.()
    for (const tell of this.#queue.splice(0)) void tell(true)
  }

  /** Tells an entry with the places where its transactions failed, once they are known. */
  #withStacks(
    entry: Entry,
    isNow: boolean,
    tell: (entry: Entry) => void,
  ): Promise<void> | undefined {
    const explaining = isNow ? undefined : withNames(entry)
    if (explaining === undefined) {
      tell(entry)
      return undefined
    }
    let isTold = false
    const tellOnce = (found: Entry): void => {
      if (isTold) return
      isTold = true
      this.#tellWaiting = undefined
      tell(found)
    }
    this.#tellWaiting = () => tellOnce(entry)
    return explaining.then(tellOnce, () => tellOnce(entry))
  }

  /** Names are looked up among the accounts as a change left them, or as they are. */
  #scene(change: StateChange | undefined): Scene | undefined {
    const names = this.#names
    if (names === undefined) return undefined
    const world = change === undefined ? names.world : headOf(change.after.tree).world
    return { names, world, before: change && worldBefore(change), traces: this.#settings?.trace }
  }

  #hint(hints: readonly HintEvent[]): void {
    if (hints.length === 0) return
    // it stands below what gave rise to it, which is drawn over no more
    this.#folding.end()
    for (const hint of hints) {
      const event = { ...hint, chain: this.#chain }
      this.#writer.write(this.#renderer.line(event, this.#screen?.().columns))
    }
  }

  /**
   * The held changes that this call made. Reads made none; a send made the one that has its transaction, also one
   * that answers its revert as an error; whatever else failed changed nothing.
   */
  #claim(call: CallEvent): readonly StateChange[] {
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

  #tellHeld(): void {
    clearTimeout(this.#claimTimer)
    this.#claimTimer = undefined
    const held = this.#held
    this.#held = []
    for (const change of held) this.#tellAlone(change)
  }

  #tellAlone(change: StateChange): void {
    const scene = this.#scene(change)
    this.#later((isNow) => {
      const events = changeEvents(change, undefined)
      if (events.length === 0) return undefined
      const entry = { chain: this.#chain, call: undefined, count: 1, events, scene }
      return this.#withStacks(entry, isNow, (found) => this.#tell(found))
    })
  }

  #tell(entry: Entry): void {
    if (entry.events.length > 0) this.#count(entry.events)
    this.#folding.add(entry)
  }

  #count(events: readonly ChainEvent[]): void {
    const totals = this.#totals
    for (const event of events) {
      if (event.event === 'block') totals.blocks += Number(event.number - event.first) + 1
      if (event.event !== 'transaction') continue
      totals.transactions += 1
      if (event.failure !== undefined) totals.failedTransactions += 1
    }
  }
}

/** Which methods are shown (`--log-only`, `--log-except`); `*` stands for any characters. */
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

/** The accounts before a change that is one block with one transaction. */
function worldBefore({ before, after }: StateChange): World | undefined {
  const [old, { block }] = [headOf(before.tree), headOf(after.tree)]
  const isOne = block.header.parentHash === old.block.hash && block.transactions.length === 1
  return isOne ? old.world : undefined
}
