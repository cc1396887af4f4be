// Folds repeated log entries into one line with a counter, also when a polling client alternates between calls.
import { stripVTControlCharacters } from 'node:util'
import { changesChain } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import type { BootEvent } from '../boot.ts'
import type { LogRecord } from './context.ts'
import type { BlockEvent, ChainEvent, LineEvent } from './events.ts'
import type { ImportedEvent } from './peers.ts'
import { accountOf, askedBy } from './request.ts'

/** Formats events as whole lines with line feeds. */
export interface Renderer {
  /** What folds into one line with a counter: nothing, equal calls, or also many calls of one method. */
  readonly folds: 'nothing' | 'calls' | 'methods'
  /** @param columns of the terminal; undefined: unlimited */
  readonly boot: (boot: BootEvent, columns?: number) => string
  readonly entry: (entry: LogRecord, columns?: number) => string
  readonly line: (event: LineEvent, columns?: number) => string
}

export interface TextWriter {
  readonly write: (text: string) => void
}

/** The terminal's size when a line is drawn; undefined for files and pipes. */
export type Screen = (() => { readonly columns: number; readonly rows: number }) | undefined

/** Milliseconds before a repeated line is redrawn. */
const REDRAW_MS = 50
/** In a file, a stretch is written at its end or after this time, which doubles each time. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 60_000
/** Lines of a stretch, limited also by the terminal's height. */
const MOST_LINES = 12
/** Rows of the terminal kept above a stretch. */
const SPARE_ROWS = 2
/** A line without new calls for so long stays as it is; the next call gets a new line. */
const STALE_MS = 30_000
/** Lines per method in a stretch; calls with further parameters count on the newest. */
const MOST_ALIKE = 3

/** A line of a stretch: `count` calls, `written` of them in the text. */
interface Run {
  entry: LogRecord
  count: number
  written: number
  isMixed: boolean
  /** Terminal rows of the text as drawn. */
  rows: number
  /** Time of the latest call (performance.now). */
  atMs: number
}

/**
 * Consecutive reads and empty blocks form a stretch: one line per kind of call, redrawn as its counter grows.
 * A change of the chain or a new kind of failure ends the stretch, and keeps its place.
 */
export class Folding {
  readonly #renderer: Pick<Renderer, 'folds' | 'entry'>
  readonly #writer: TextWriter
  readonly #screen: Screen
  #runs: Run[] = []
  #newest: Run | undefined
  #waitMs = FIRST_WAIT_MS
  /** Runs while there are unwritten counts. */
  #timer: NodeJS.Timeout | undefined

  constructor(renderer: Pick<Renderer, 'folds' | 'entry'>, writer: TextWriter, screen: Screen) {
    this.#renderer = renderer
    this.#writer = writer
    this.#screen = screen
  }

  add(entry: LogRecord): void {
    if (this.#renderer.folds === 'nothing' || !isFoldable(entry)) {
      this.end()
      this.#writer.write(this.#renderer.entry(entry, this.#screen?.().columns))
      return
    }
    const run = this.#runOf(entry)
    if (run === undefined) this.#begin(entry)
    else this.#count(run, entry)
  }

  /** Ends the stretch; later lines go below it. */
  end(): void {
    this.#show()
    this.#runs = []
    this.#newest = undefined
  }

  #runOf(entry: LogRecord): Run | undefined {
    const newest = this.#newest
    if (newest !== undefined && isSame(newest.entry, entry)) return newest
    if (entry.call && changesChain(entry.call)) return undefined
    const least = performance.now() - STALE_MS
    return (
      this.#runs.find((run) => run.atMs > least && isSame(run.entry, entry)) ??
      this.#alike(entry, least)
    )
  }

  /** The line for many calls of one method, without their parameters. */
  #alike(entry: LogRecord, least: number): Run | undefined {
    if (this.#renderer.folds !== 'methods' || !isPlain(entry)) return undefined
    const alike = this.#runs.filter(
      (run) => run.atMs > least && isOfMethod(run.entry, entry) && isPlain(run.entry),
    )
    return alike.length < MOST_ALIKE ? undefined : alike.at(-1)
  }

  #begin(entry: LogRecord): void {
    if (isMilestone(entry)) this.end()
    const atMs = performance.now()
    const run = { entry, count: 1, written: 0, isMixed: false, rows: 0, atMs }
    this.#runs.push(run)
    this.#newest = run
    if (this.#waitMs > FIRST_WAIT_MS) this.#stopTimer()
    this.#waitMs = FIRST_WAIT_MS
    if (this.#screen === undefined) this.#awaitMore()
    else this.#show()
    this.#shorten()
  }

  #count(run: Run, entry: LogRecord): void {
    // a block range written to a file cannot be extended
    const isOpen = run.written < run.count || this.#screen !== undefined
    run.isMixed ||= !isSame(run.entry, entry)
    const both = isOpen ? joinedBlocks(run.entry, entry) : undefined
    run.entry = both === undefined ? entry : { ...entry, events: [both] }
    run.count++
    run.atMs = performance.now()
    this.#newest = run
    this.#awaitMore()
  }

  /** Drops surplus lines from the stretch: on a terminal the topmost, in a file the least used. */
  #shorten(): void {
    const screen = this.#screen?.()
    const room = screen === undefined ? MOST_LINES : Math.min(MOST_LINES, screen.rows - SPARE_ROWS)
    const height = (): number => this.#runs.reduce((sum, { rows }) => sum + Math.max(1, rows), 0)
    while (this.#runs.length > 1 && height() > room) {
      const leastUsed = this.#runs.reduce((least, run) => (run.atMs < least.atMs ? run : least))
      const leaving = screen === undefined ? leastUsed : this.#runs[0]!
      if (leaving.written < leaving.count) this.#show()
      this.#runs = this.#runs.filter((run) => run !== leaving)
    }
  }

  #awaitMore(): void {
    const waitMs = this.#screen === undefined ? this.#waitMs : REDRAW_MS
    this.#timer ??= setTimeout(() => this.#show(), waitMs).unref()
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #show(): void {
    this.#stopTimer()
    const first = this.#runs.findIndex(({ written, count }) => written < count)
    if (first < 0) return
    const runs = this.#runs.slice(first)
    if (this.#screen === undefined) this.#append(runs)
    else this.#draw(runs, this.#screen().columns)
    for (const run of runs) run.written = run.count
  }

  /** On a terminal: redraws the last lines of the stretch. */
  #draw(runs: readonly Run[], columns: number): void {
    const up = runs.reduce((sum, { rows }) => sum + rows, 0)
    const texts = runs.map((run) => {
      const text = this.#renderer.entry(withCount(run, run.count), columns)
      run.rows = rowsOf(text, columns)
      return text
    })
    this.#writer.write(`${up > 0 ? `\u001b[${up}A\r\u001b[0J` : ''}${texts.join('')}`)
  }

  /** In a file: appends a line for each run's unwritten calls. */
  #append(runs: readonly Run[]): void {
    for (const run of runs) {
      const count = run.count - run.written
      if (count > 0) this.#writer.write(this.#renderer.entry(withCount(run, count)))
    }
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS)
  }
}

function withCount({ entry, isMixed }: Run, count: number): LogRecord {
  return isMixed ? { ...entry, count, isMixed } : { ...entry, count }
}

/** Calls that changed nothing, and interval-mined empty blocks. */
function isFoldable({ call, events }: LogRecord): boolean {
  if (call === undefined) return isEmptyBlock(events)
  return events.length === 0 && call.console.length === 0
}

/** Entries that keep their place: possible changes, and failures. */
function isMilestone({ call }: LogRecord): boolean {
  return call !== undefined && (changesChain(call) || call.error !== undefined)
}

/** A read whose line shows no parameters. */
function isPlain(entry: LogRecord): boolean {
  const { call, callTrace } = entry
  if (call === undefined || isMilestone(entry) || callTrace !== undefined) return false
  if (call.description !== undefined || call.notes.length > 0) return false
  return askedBy(call) === undefined && accountOf(call) === undefined
}

function isOfMethod(a: LogRecord, b: LogRecord): boolean {
  return a.call?.method === b.call?.method && a.chain === b.chain
}

function isBlocks(event: ChainEvent | undefined): event is BlockEvent | ImportedEvent {
  return event?.event === 'imported' || event?.event === 'block'
}

function peerOf(event: BlockEvent | ImportedEvent): string | undefined {
  return 'peer' in event ? event.peer : undefined
}

function isEmptyBlock(events: readonly ChainEvent[]): boolean {
  const [event] = events
  if (events.length !== 1 || event === undefined) return false
  return event.event === 'imported' || (event.event === 'block' && event.transactions === 0)
}

function isSame(a: LogRecord, b: LogRecord): boolean {
  if (a.chain !== b.chain) return false
  if (a.call === undefined || b.call === undefined) {
    return a.call === b.call && joinedBlocks(a, b) !== undefined
  }
  return (
    isOfMethod(a, b) &&
    a.call.error?.message === b.call.error?.message &&
    isEqual(a.call.params, b.call.params)
  )
}

/** The range of consecutive blocks made here, or from one peer; undefined for others. */
function joinedBlocks(
  { events: [former] }: LogRecord,
  { events: [latest] }: LogRecord,
): ChainEvent | undefined {
  if (!isBlocks(former) || !isBlocks(latest) || peerOf(former) !== peerOf(latest)) return undefined
  if (latest.first !== former.number + 1n) return undefined
  return { ...latest, first: former.first, transactions: former.transactions + latest.transactions }
}

/** JSON equality, faster than `isDeepStrictEqual`: every call is compared with every line. Most differ in a text of their first item. */
function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  // the members of a list are named by their places
  const [one, other] = [a as JsonObject, b as JsonObject]
  for (const name in one) if (!isEqual(one[name], other[name])) return false
  return Object.keys(one).length === Object.keys(other).length
}

type JsonObject = { readonly [name: string]: Json | undefined }

function rowsOf(text: string, columns: number): number {
  const lines = stripVTControlCharacters(text).split('\n').slice(0, -1)
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / columns)), 0)
}
