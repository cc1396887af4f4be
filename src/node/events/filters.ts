// Polled filters: each keeps what happened since its last poll.
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { collect } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import { OPTIONS } from '../../options/table.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { mayHave } from '../../protocol/blocks/bloom.ts'
import type { Chain } from '../chain/chain.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { StateChange } from '../ledger/change.ts'
import type { BlockReference } from '../ledger/references.ts'
import { announcementsOf, type BlockLogs, entriesOf } from './changes.ts'
import { Journal } from './journal.ts'
import { bloomTestOf, checkQuery, findLogs, type LogEntry, type LogQuery, matches } from './logs.ts'

const DEFAULT_FILTER_LIMITS = {
  /** Milliseconds without a poll after which a filter expires. */
  timeoutMs: OPTIONS.filterTimeout.default as number,
  filters: 10_000,
  /** Most entries that wait for a filter's next poll; for log filters also all logs of abandoned blocks. */
  backlog: 100_000,
  /** Most blocks with logs that wait for a poll. */
  blocks: 1_000_000,
}

export type FilterLimits = Readonly<typeof DEFAULT_FILTER_LIMITS>

export type FilterChanges =
  | { readonly kind: 'logs'; readonly logs: readonly LogEntry[] }
  | { readonly kind: 'blocks' | 'transactions'; readonly hashes: readonly Hash[] }

interface Filter {
  readonly kind: 'logs' | 'blocks' | 'transactions'
  readonly query?: LogQuery
  /** Wall time in milliseconds. */
  lastPolled: number
  /** The first block of a log filter that starts at the newest block. */
  since: bigint
  newest?: Hash | undefined
  /** True until the first poll of a log filter that starts with stored logs. */
  hasHistory?: boolean
}

/** Shares one journal, so unpolled filters cost almost nothing. Use removes expired filters, without a timer. */
export class Filters {
  readonly #chain: Chain
  readonly #limits: FilterLimits
  /** Least recently polled first. */
  readonly #filters = new Map<bigint, Filter>()
  readonly #journals: {
    readonly blocks: Journal<Hash>
    readonly transactions: Journal<Hash>
    readonly logs: Journal<BlockLogs>
  }
  readonly #stopListening: () => void
  #nextId = 1n

  constructor(chain: Chain, limits: Partial<FilterLimits> = {}) {
    this.#chain = chain
    this.#limits = { ...DEFAULT_FILTER_LIMITS, ...limits }
    const { backlog, blocks } = this.#limits
    this.#journals = {
      blocks: new Journal({ entries: backlog }),
      transactions: new Journal({ entries: backlog }),
      logs: new Journal({
        entries: blocks,
        weight: backlog,
        weightOf: ({ removed, count }) => (removed ? count : 0),
      }),
    }
    this.#stopListening = chain.onChange((change) => this.#feed(change))
    chain.onClose(() => this.close())
  }

  /**
   * Block numbers bound the range; tags do not, because new blocks are later than `latest` was.
   * @param begin the first poll returns only new logs, or also stored ones (`historyOf`)
   * @throws {DevchainError} `INVALID_PARAMS` for a range that ends before it begins, `NOT_FOUND` for an unknown block
   *   hash, `LIMIT_EXCEEDED` for too many filters
   */
  addLogFilter(query: LogQuery, begin: 'new' | 'stored' = 'new'): bigint {
    checkQuery(this.#chain.state, query)
    return this.#add({ kind: 'logs', query, hasHistory: begin === 'stored' })
  }

  addBlockFilter(newest?: Hash): bigint {
    return this.#add({ kind: 'blocks', newest })
  }

  has(id: bigint): boolean {
    this.#sweep()
    return this.#filters.has(id)
  }

  addPendingFilter(): bigint {
    return this.#add({ kind: 'transactions' })
  }

  /**
   * A promise only when there is much to search.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `LIMIT_EXCEEDED` when too much happened: those
   *   events are dropped
   */
  changes(id: bigint): MaybePromise<FilterChanges> {
    const filter = this.#polled(id)
    const { kind, query, newest } = filter
    filter.newest = undefined
    const { backlog, blocks: most } = this.#limits
    if (kind === 'logs') {
      const blocks = this.#journals.logs.read(id)
      const kept = `${backlog} logs of abandoned blocks or ${most} blocks with logs`
      if (blocks === undefined) throw missed(id, kept, backlog)
      return whenThere(collect(wantedLogs(query!, blocks), backlog), (logs) => {
        if (logs === undefined) throw missed(id, `${backlog}`, backlog)
        return { kind, logs }
      })
    }
    const hashes = this.#journals[kind].read(id)
    if (hashes === undefined) throw missed(id, `${backlog}`, backlog)
    return { kind, hashes: newest === undefined ? hashes : [newest, ...hashes] }
  }

  historyOf(id: bigint): LogQuery | undefined {
    const { query, since, hasHistory } = this.#filters.get(id) ?? {}
    if (query === undefined || since === undefined || !hasHistory) return undefined
    if (query.blockHash !== undefined) return query
    const last = boundOf(query.to)
    const end = last === undefined || last > since ? since : last
    const range = storedRange(query, since)
    if (boundOf(range.from)! > end) return undefined
    return { ...range, to: { kind: 'number', number: end } }
  }

  /** Finds a filter's stored logs once, for one poll; a failure leaves them to the next. Undefined: none are due. */
  beginWith<T>(id: bigint, find: (history: LogQuery) => Promise<T>): MaybePromise<T | undefined> {
    const history = this.historyOf(id)
    const filter = this.#filters.get(id)
    if (history === undefined || filter === undefined) return undefined
    filter.hasHistory = false
    return find(history).catch((error: unknown) => {
      filter.hasHistory = true
      throw error
    })
  }

  rangeOf(id: bigint): LogQuery | undefined {
    if (!this.has(id)) return undefined
    const { query, since } = this.#polled(id)
    return query && storedRange(query, since)
  }

  /**
   * All stored logs in the range. `latest` as its start means the newest block when the filter was made.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `INVALID_PARAMS` for a filter of another kind
   */
  async logs(id: bigint, cancellation?: Cancellation): Promise<LogEntry[]> {
    const { query, since } = this.#polled(id)
    if (query === undefined) {
      const message = `filter ${quantityFromBigint(id)} is not a log filter: call eth_getFilterChanges for its changes`
      throw invalidParams(message)
    }
    const limit = this.#limits.backlog
    return findLogs(this.#chain, storedRange(query, since), { limit, cancellation })
  }

  remove(id: bigint): boolean {
    this.#sweep()
    const filter = this.#filters.get(id)
    if (filter !== undefined) this.#forget(id, filter)
    return filter !== undefined
  }

  close(): void {
    this.#stopListening()
    for (const [id, filter] of this.#filters) this.#forget(id, filter)
  }

  #add(made: Omit<Filter, 'lastPolled' | 'since'>): bigint {
    this.#sweep()
    const { filters } = this.#limits
    if (this.#filters.size >= filters) {
      const message = `too many filters: the limit is ${filters}; uninstall those no longer needed`
      throw new DevchainError('LIMIT_EXCEEDED', message, { limit: filters })
    }
    const id = this.#nextId
    this.#nextId += 1n
    this.#filters.set(id, {
      ...made,
      lastPolled: this.#chain.environment.now(),
      since: headOf(this.#chain.state.tree).block.header.number,
    })
    this.#journals[made.kind].add(id)
    return id
  }

  #polled(id: bigint): Filter {
    this.#sweep()
    const filter = this.#filters.get(id)
    if (filter === undefined) {
      const message = `filter ${quantityFromBigint(id)} not found`
      throw new DevchainError('NOT_FOUND', message, undefined, { filter: id })
    }
    filter.lastPolled = this.#chain.environment.now()
    this.#filters.delete(id)
    this.#filters.set(id, filter)
    return filter
  }

  #feed(change: StateChange): void {
    if (this.#filters.size === 0) return
    this.#sweep()
    const announcements = announcementsOf(change)
    const { blocks, transactions, logs } = this.#journals
    const { heads, pending } = announcements
    if (blocks.readers > 0) blocks.pushAll(heads.length, (index) => heads.hashAt(index))
    if (transactions.readers > 0) for (const { hash } of pending) transactions.push(hash)
    if (logs.readers === 0) return
    for (const block of announcements.logs) logs.push(block)
    const fork = change.head.removed.at(-1)?.block.header.number
    if (fork === undefined) return
    for (const filter of this.#filters.values()) if (fork < filter.since) filter.since = fork
  }

  #sweep(): void {
    const oldest = this.#chain.environment.now() - this.#limits.timeoutMs
    for (const [id, filter] of this.#filters) {
      if (filter.lastPolled >= oldest) return
      this.#forget(id, filter)
    }
  }

  #forget(id: bigint, { kind }: Filter): void {
    this.#filters.delete(id)
    this.#journals[kind].delete(id)
  }
}

function missed(id: bigint, kept: string, limit: number): DevchainError {
  const message = `filter ${quantityFromBigint(id)} missed changes: more than ${kept} came without a poll`
  return new DevchainError('LIMIT_EXCEEDED', message, { limit })
}

/** One list for each block. */
export function* wantedLogs(
  query: LogQuery,
  blocks: Iterable<BlockLogs>,
): IterableIterator<readonly LogEntry[]> {
  const test = bloomTestOf(query)
  for (const block of blocks) {
    const { block: mined } = block.record
    const isSearched = isWanted(query, mined) && mayHave(test, mined.header.logsBloom)
    yield isSearched ? entriesOf(block).filter(({ log }) => matches(query, log)) : []
  }
}

/** A block hash names an existing block, so only its removal can match. Tags bound nothing: new blocks are later. */
function isWanted(query: LogQuery, { header, hash }: Block): boolean {
  if (query.blockHash !== undefined && query.blockHash !== hash) return false
  const first = boundOf(query.from)
  const last = boundOf(query.to)
  if (first !== undefined && header.number < first) return false
  return last === undefined || header.number <= last
}

function boundOf(reference: BlockReference | undefined): bigint | undefined {
  if (reference?.kind === 'number') return reference.number
  return reference?.kind === 'tag' && reference.tag === 'earliest' ? 0n : undefined
}

function storedRange(query: LogQuery, since: bigint): LogQuery {
  if (query.blockHash !== undefined) return query
  const isNamed = query.from !== undefined && boundOf(query.from) !== undefined
  return isNamed ? query : { ...query, from: { kind: 'number', number: since } }
}
