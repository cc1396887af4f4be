// The log of a running chain: gathers what belongs together, collapses repetitions, and hands it on as text.
import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util'
import type { Hash } from '../../core/hex.ts'
import type { ProgressReport } from '../../core/progress.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { PeerEvent } from '../../node/peers.ts'
import type { ArtifactsEvent, ProjectEvent } from '../../project/events.ts'
import type { Names } from '../../project/naming/names.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import type { BootEvent } from '../boot.ts'
import {
  type BugEvent,
  type CallEvent,
  type ChainEvent,
  changeEvents,
  type EndEvent,
  hasEntered,
  type NoticeEvent,
  type RunningEvent,
  sentHash,
} from './events.ts'
import type { HintEvent, Hints } from './hints.ts'
import { joinedImports } from './peers.ts'
import { type Scene, withNames } from './scene.ts'

/** A call with what it changed; or, without a call, what changed by itself (a mining interval). */
export interface Entry {
  readonly call: CallEvent | undefined
  /** Counts the calls of a run, from 1 on. */
  readonly id?: number | undefined
  /** How many times in a row; above 1 only for entries that collapse. */
  readonly count: number
  readonly events: readonly ChainEvent[]
  /** What names are looked up in; undefined where there is no project. */
  readonly scene?: Scene | undefined
  /** Of transactions that failed, by their hashes: the reason, and where in Solidity, a line each. */
  readonly stacks?: ReadonlyMap<string, readonly string[]> | undefined
  /** Calls of transactions as trees, by their hashes, in lines. */
  readonly traces?: ReadonlyMap<string, readonly string[]> | undefined
  /** The call's own calls as a tree, in lines, where it made no transaction. */
  readonly callTrace?: readonly string[] | undefined
}

/** Turns events into text: whole lines, each with its line feed. */
export interface Renderer {
  /** True when repeated calls become one line with a counter. */
  readonly collapses: boolean
  /** @param columns of the terminal; undefined: as wide as may be */
  readonly boot: (boot: BootEvent, columns?: number) => string
  readonly entry: (entry: Entry, columns?: number) => string
  readonly hint: (event: HintEvent, columns?: number) => string
  readonly running: (event: RunningEvent) => string
  readonly notice: (event: NoticeEvent) => string
  readonly artifacts: (event: ArtifactsEvent) => string
  readonly peer: (event: PeerEvent) => string
  readonly bug: (event: BugEvent) => string
  readonly end: (event: EndEvent) => string
  readonly dropped: (lines: number) => string
}

/** What the log needs of `LogWriter`. */
export interface TextWriter {
  readonly write: (text: string) => void
}

/** Columns of the terminal, asked when a line is drawn over; undefined in files and pipes. */
export type TerminalWidth = (() => number) | undefined

/** How long changes wait for the call that made them before they are logged alone. */
const CLAIM_MS = 10
/** Entries that wait for their turn at most, where names are looked up. */
const QUEUE_LIMIT = 10_000
/** How long entries wait for others, and how many are told in a row: to look names up leaves replies their turn. */
const GATHER_MS = 20
const IN_A_ROW = 50
/** How many changes wait for their calls at most. */
const HELD_LIMIT = 1_000
/** How long a repetition on a terminal waits before it is drawn again. */
const REDRAW_MS = 50
/** In a file a run of the same call is written when it ends, or after this time; each time the wait doubles. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 60_000

/** Tells an entry; a promise where it waits for an explanation. With `isNow` it does not. */
type Teller = (isNow: boolean) => Promise<void> | undefined

/** A run of the same entry; `written` counts those that are in the text already. */
interface Run {
  entry: Entry
  count: number
  written: number
  /** Rows that the text takes on a terminal, when it was drawn. */
  rows: number
  waitMs: number
  /** When the rest of the run is to be written (performance.now); undefined when all of it is. */
  dueMs: number | undefined
}

export class Log {
  readonly #renderer: Renderer
  readonly #writer: TextWriter
  readonly #width: TerminalWidth
  readonly #hints: Hints | undefined
  readonly #traces: Scene['traces']
  readonly #beganMs = performance.now()
  readonly #totals = { calls: 0, failedCalls: 0, transactions: 0, failedTransactions: 0, blocks: 0 }
  #held: StateChange[] = []
  #claimTimer: NodeJS.Timeout | undefined
  #run: Run | undefined
  #runTimer: NodeJS.Timeout | undefined
  #names: Names | undefined
  /** What is told after replies: to look names up takes time. */
  #queue: Teller[] = []
  #queueTimer: NodeJS.Timeout | undefined
  /** Tells what waits for an explanation, without it. */
  #tellWaiting: (() => void) | undefined

  /** @param traces of which transactions the calls are told */
  constructor(
    renderer: Renderer,
    writer: TextWriter,
    width: TerminalWidth,
    hints?: Hints,
    traces?: Scene['traces'],
  ) {
    this.#traces = traces
    this.#renderer = renderer
    this.#writer = writer
    this.#width = width
    this.#hints = hints
  }

  /** What this chain's settings are decides on hints. */
  watch(chain: Pick<Chain, 'state'>): void {
    this.#hints?.watch(chain)
  }

  /** Tells names from now on. */
  use(names: Names): void {
    this.#names = names
  }

  /** Logs a call, and the changes that it made. */
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
      return this.#withStacks({ call, id, count: 1, events, scene }, isNow, (entry) => {
        this.#tell(entry)
        this.#hint(this.#hints?.afterCall(call, entry.events) ?? [])
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

  /** Logs that something takes long and goes on. */
  running({ name, durationMs, gasUsed, others }: ProgressReport): void {
    this.#tellQueue()
    this.#endRun()
    const event = { event: 'running', method: name, durationMs, gasUsed, others } as const
    this.#writer.write(this.#renderer.running(event))
  }

  /** Logs what a user should know. */
  notice(text: string): void {
    this.#tellQueue()
    this.#endRun()
    this.#writer.write(this.#renderer.notice({ event: 'notice', text }))
  }

  /** Logs that a peer came or went, or was refused. */
  peer(event: PeerEvent): void {
    this.#tellQueue()
    this.#endRun()
    this.#writer.write(this.#renderer.peer(event))
  }

  /** Logs what was found of the user's project. */
  artifacts(event: ProjectEvent): void {
    this.#tellQueue()
    if ('hint' in event) {
      this.#hint(this.#hints?.onProject(event) ?? [])
      return
    }
    this.#endRun()
    this.#writer.write(this.#renderer.artifacts(event))
  }

  bug(error: unknown): void {
    this.#tellQueue()
    this.#endRun()
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#writer.write(this.#renderer.bug({ event: 'bug', stack }))
  }

  /** Writes what waits. */
  finish(): void {
    this.#tellHeld()
    this.#tellAll()
    this.#endRun()
  }

  /** Writes what waits, and what there was in all. */
  end(): void {
    this.finish()
    const durationMs = Math.round(performance.now() - this.#beganMs)
    this.#writer.write(this.#renderer.end({ event: 'end', ...this.#totals, durationMs }))
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

  /** Tells all that waits, explained or not. */
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
    return { names, world, before: change && worldBefore(change), traces: this.#traces }
  }

  #hint(hints: readonly HintEvent[]): void {
    if (hints.length === 0) return
    // it stands below what gave rise to it, which is drawn over no more
    this.#endRun()
    for (const hint of hints) this.#writer.write(this.#renderer.hint(hint, this.#width?.()))
  }

  /**
   * The held changes that this call made. Reads made none; a send made the one that has its transaction, also one
   * that answers its revert as an error; whatever else failed changed nothing.
   */
  #claim(call: CallEvent): readonly StateChange[] {
    if (this.#held.length === 0 || call.writes === undefined) return []
    const hash = sentHash(call)
    if (call.error !== undefined && hash === undefined) return []
    const end = call.writes === 'transaction' ? this.#endOfSend(hash) : this.#held.length
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
      const entry = { call: undefined, count: 1, events, scene }
      return this.#withStacks(entry, isNow, (found) => this.#tell(found))
    })
  }

  #tell(entry: Entry): void {
    if (entry.events.length > 0) this.#count(entry.events)
    if (!this.#renderer.collapses) {
      this.#writer.write(this.#renderer.entry(entry, this.#width?.()))
      return
    }
    if (this.#run !== undefined && isSame(this.#run.entry, entry)) {
      this.#run.entry =
        this.#run.written < this.#run.count || this.#width !== undefined
          ? joined(this.#run.entry, entry)
          : entry
      this.#run.count++
      this.#awaitMore(this.#run)
      return
    }
    this.#endRun()
    if (!collapses(entry)) {
      this.#writer.write(this.#renderer.entry(entry, this.#width?.()))
      return
    }
    this.#run = { entry, count: 1, written: 0, rows: 0, waitMs: FIRST_WAIT_MS, dueMs: undefined }
    if (this.#width === undefined) this.#awaitMore(this.#run)
    else this.#draw(this.#run, this.#width())
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

  /** Waits a while for more of the run, unless it does already. One timer serves all runs: most end before it fires. */
  #awaitMore(run: Run): void {
    run.dueMs ??= performance.now() + (this.#width === undefined ? run.waitMs : REDRAW_MS)
    this.#runTimer ??= setTimeout(() => this.#wake(), run.dueMs - performance.now()).unref()
  }

  #wake(): void {
    this.#runTimer = undefined
    const run = this.#run
    if (run?.dueMs === undefined) return
    if (performance.now() < run.dueMs) this.#awaitMore(run)
    else this.#show(run)
  }

  #show(run: Run): void {
    run.dueMs = undefined
    if (this.#width === undefined) this.#writeRun(run)
    else this.#draw(run, this.#width())
  }

  /** On a terminal: the run's line anew, over its former text. */
  #draw(run: Run, columns: number): void {
    const text = this.#renderer.entry({ ...run.entry, count: run.count }, columns)
    this.#writer.write(run.rows > 0 ? `\u001b[${run.rows}A\r\u001b[0J${text}` : text)
    run.rows = rowsOf(text, columns)
    run.written = run.count
  }

  /** In a file: one line for those of the run that are not written yet. */
  #writeRun(run: Run): void {
    this.#writer.write(this.#renderer.entry({ ...run.entry, count: run.count - run.written }))
    run.written = run.count
    run.waitMs = Math.min(run.waitMs * 2, LONGEST_WAIT_MS)
  }

  #endRun(): void {
    const run = this.#run
    this.#run = undefined
    if (run !== undefined && run.written < run.count) this.#show(run)
  }
}

/** True when the change put the transaction into a block or into the pool. */
function hasTransaction(change: StateChange, hash: Hash): boolean {
  const isMined = [...change.head.added.filled()].some(({ block }) =>
    block.transactions.some((transaction) => transaction.hash === hash),
  )
  return isMined || hasEntered(change, hash)
}

/** Calls that changed nothing, and empty blocks that came by themselves. */
function collapses({ call, events }: Entry): boolean {
  if (call === undefined) return isEmptyBlock(events)
  return events.length === 0 && call.console.length === 0
}

function isEmptyBlock(events: readonly ChainEvent[]): boolean {
  const [event] = events
  if (events.length !== 1 || event === undefined) return false
  return event.event === 'imported' || (event.event === 'block' && event.transactions === 0)
}

function isSame(a: Entry, b: Entry): boolean {
  if (!(collapses(a) && collapses(b))) return false
  if (a.call === undefined || b.call === undefined) return a.call === b.call && isRow(a, b)
  return (
    a.call.method === b.call.method &&
    a.call.error?.message === b.call.error?.message &&
    isEqual(a.call.params, b.call.params)
  )
}

/** True for blocks of one kind: made here, or of one peer, each of which follows the one before. */
function isRow({ events: [former] }: Entry, { events: [latest] }: Entry): boolean {
  if (former?.event !== 'imported' || latest?.event !== 'imported') {
    return former?.event === latest?.event
  }
  return joinedImports(former, latest) !== undefined
}

/** Equality of JSON. Lists of text, as nearly all parameters are, are compared ten times as fast as by node. */
function isEqual(a: Json, b: Json): boolean {
  if (!(Array.isArray(a) && Array.isArray(b))) return isDeepStrictEqual(a, b)
  return a.length === b.length && a.every((item, i) => item === b[i] || isDeepEqual(item, b[i]))
}

function isDeepEqual(a: Json, b: Json): boolean {
  return typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b)
}

/** The newer of two entries of a run; of empty blocks, the whole range. */
function joined(run: Entry, next: Entry): Entry {
  const [former] = run.events
  const [latest] = next.events
  if (former?.event === 'imported' && latest?.event === 'imported') {
    const both = joinedImports(former, latest)
    return both === undefined ? next : { ...next, events: [both] }
  }
  if (former?.event !== 'block' || latest?.event !== 'block') return next
  return { ...next, events: [{ ...latest, first: former.first }] }
}

/** How many rows text takes on a terminal; escape sequences take no room. */
function rowsOf(text: string, columns: number): number {
  const lines = stripVTControlCharacters(text).split('\n').slice(0, -1)
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / columns)), 0)
}

/** The accounts before a change that is one block with one transaction. */
function worldBefore({ before, after }: StateChange): World | undefined {
  const [old, { block }] = [headOf(before.tree), headOf(after.tree)]
  const isOne = block.header.parentHash === old.block.hash && block.transactions.length === 1
  return isOne ? old.world : undefined
}
