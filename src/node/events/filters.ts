// Filters that callers poll: each keeps what happened since it was last asked.
import { DevchainError } from '../../core/errors.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { collect } from '../../core/yield.ts'
import type { IsAwaited } from '../../evm/executor.ts'
import { OPTIONS } from '../../options/table.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { Chain } from '../chain/chain.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { StateChange } from '../ledger/change.ts'
import type { BlockReference } from '../ledger/references.ts'
import { announcementsOf, type BlockLogs, entriesOf } from './changes.ts'
import { Journal } from './journal.ts'
import { bloomTest, checkQuery, findLogs, type LogEntry, type LogQuery, matches } from './logs.ts'

export const DEFAULT_FILTER_LIMITS = {
  /** Milliseconds without a poll after which a filter is gone. */
  timeoutMs: OPTIONS.filterTimeout.default as number,
  filters: 10_000,
  /** Entries that wait for a filter's next poll; for log filters also logs of abandoned blocks, whether they match or not. */
  backlog: 100_000,
  /** Blocks with logs that wait for the next poll of some log filter. */
  blocks: 1_000_000,
}

export type FilterLimits = Readonly<typeof DEFAULT_FILTER_LIMITS>

export type FilterChanges =
  | { readonly kind: 'logs'; readonly logs: readonly LogEntry[] }
  | { readonly kind: 'blocks' | 'transactions'; readonly hashes: readonly Hash[] }

interface Filter {
  readonly kind: 'logs' | 'blocks' | 'transactions'
  readonly query: LogQuery | undefined
  /** Wall time in milliseconds. */
  lastPolled: number
  /** The first block that `logs` looks at, for a log filter that begins at the newest block. */
  since: bigint
  /** What the first poll begins with, until then. */
  newest?: Hash | undefined
  /** True until the first poll of a log filter that begins with what is stored already. */
  hasHistory?: boolean
}

/**
 * The poll filters of one chain. What happens is kept once, and a filter has a place in it, so that any number of filters
 * costs next to nothing until they are polled. A filter that nobody polls expires; expired ones are swept whenever filters
 * are used or fed, so no timer is needed. A revert does not touch filters: it reaches them as removed logs.
 */
export class Filters {
  readonly #chain: Chain
  readonly #limits: FilterLimits
  /** The one that was polled longest ago comes first. */
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

  get size(): number {
    this.#sweep()
    return this.#filters.size
  }

  /**
   * Listens to logs that match. Numbers in `from` and `to` bound the blocks that are listened to; tags do not, as
   * whatever comes is newer than `latest` was.
   * @param begin with what the first poll begins: with what is new, or with the logs that are stored already (`historyOf`)
   * @returns the filter's id
   * @throws {DevchainError} `INVALID_PARAMS` for a range that ends before it begins, `NOT_FOUND` for an unknown block hash,
   *   `LIMIT_EXCEEDED` when there are too
   *   many filters
   */
  addLogFilter(query: LogQuery, begin: 'new' | 'stored' = 'new'): bigint {
    checkQuery(this.#chain.state, query)
    const id = this.#add('logs', query)
    this.#filters.get(id)!.hasHistory = begin === 'stored'
    return id
  }

  addBlockFilter(newest?: Hash): bigint {
    const id = this.#add('blocks')
    if (newest !== undefined) this.#filters.get(id)!.newest = newest
    return id
  }

  has(id: bigint): boolean {
    this.#sweep()
    return this.#filters.has(id)
  }

  addPendingFilter(): bigint {
    return this.#add('transactions')
  }

  /**
   * At once, unless there is much to look through.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `LIMIT_EXCEEDED` when more happened than may be
   *   kept: that is dropped, and the next poll goes on from here
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
    // no more than `backlog` are kept
    return whenThere(collect(hashes, backlog), (all = []) => ({
      kind,
      hashes: newest === undefined ? all : [newest, ...all],
    }))
  }

  /** The stored logs that the next poll of a filter begins with; undefined where it has none to begin with. */
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

  /** Has the history of a filter looked for, which no other poll begins with then; unless that fails. Undefined: there is none. */
  async beginWith<T>(id: bigint, find: (history: LogQuery) => Promise<T>): Promise<T | undefined> {
    const history = this.historyOf(id)
    const filter = this.#filters.get(id)
    if (history === undefined || filter === undefined) return undefined
    filter.hasHistory = false
    try {
      return await find(history)
    } catch (error) {
      filter.hasHistory = true
      throw error
    }
  }

  rangeOf(id: bigint): LogQuery | undefined {
    if (!this.has(id)) return undefined
    const { query, since } = this.#polled(id)
    return query && storedRange(query, since)
  }

  /**
   * All stored logs in the range, delivered or not. `latest` as the beginning is the newest block of when the filter was made.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `INVALID_PARAMS` for a filter of another kind
   */
  async logs(id: bigint, isAwaited?: IsAwaited): Promise<LogEntry[]> {
    const { query, since } = this.#polled(id)
    if (query === undefined) {
      const message = `filter ${quantityFromBigint(id)} is not a log filter: ask eth_getFilterChanges for its changes`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const limit = this.#limits.backlog
    return findLogs(this.#chain, storedRange(query, since), { limit, isAwaited })
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

  #add(kind: Filter['kind'], query?: LogQuery): bigint {
    this.#sweep()
    const { filters } = this.#limits
    if (this.#filters.size >= filters) {
      const message = `too many filters: there may be ${filters} at a time; uninstall those no longer needed`
      throw new DevchainError('LIMIT_EXCEEDED', message, { limit: filters })
    }
    const id = this.#nextId
    this.#nextId += 1n
    this.#filters.set(id, {
      kind,
      query,
      lastPolled: this.#chain.environment.now(),
      since: headOf(this.#chain.state.tree).block.header.number,
    })
    this.#journals[kind].add(id)
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

/** The logs that a filter wants; undefined for those that it does not, and for blocks without any. */
function* wantedLogs(
  query: LogQuery,
  blocks: Iterable<BlockLogs>,
): IterableIterator<LogEntry | undefined> {
  const mayMatch = bloomTest(query)
  for (const block of blocks) {
    const { block: mined } = block.record
    if (!isWanted(query, mined) || !mayMatch(mined.header.logsBloom)) yield undefined
    else {
      for (const entry of entriesOf(block)) {
        yield matches(query, entry.log) ? entry : undefined
      }
    }
  }
}

/** Numbers bound the blocks of a log filter. A block hash names one block, so nothing new ever matches but its removal. */
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

/** The query with `latest` as its beginning replaced by the block that was the newest. */
function storedRange(query: LogQuery, since: bigint): LogQuery {
  if (query.blockHash !== undefined) return query
  const isNamed = query.from !== undefined && boundOf(query.from) !== undefined
  return isNamed ? query : { ...query, from: { kind: 'number', number: since } }
}
