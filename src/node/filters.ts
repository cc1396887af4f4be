// Filters that callers poll: each keeps what happened since it was last asked.
import { DevchainError } from '../core/errors.ts'
import { type Hash, quantityFromBigint } from '../core/hex.ts'
import { type Announcements, announcementsOf } from './announce.ts'
import { headOf } from './blocktree.ts'
import type { BlockReference, Chain, StateChange } from './chain.ts'
import { checkQuery, findLogs, type LogEntry, type LogQuery, matches } from './logs.ts'

/** Bounds of a chain's filters. */
export interface FilterLimits {
  /** Milliseconds without a poll after which a filter is gone. */
  readonly timeoutMs: number
  /** Filters at a time. */
  readonly filters: number
  /** Entries that one filter keeps for its next poll. */
  readonly backlog: number
}

export const DEFAULT_FILTER_LIMITS: FilterLimits = {
  timeoutMs: 5 * 60 * 1000,
  filters: 10_000,
  backlog: 100_000,
}

/** What a poll answers, by the filter's kind: logs, hashes of blocks, or hashes of pending transactions. */
export type FilterChanges =
  | { readonly kind: 'logs'; readonly logs: readonly LogEntry[] }
  | { readonly kind: 'blocks' | 'transactions'; readonly hashes: readonly Hash[] }

/** What a filter heard since it was last polled. */
interface Backlog {
  readonly hear: (announcements: Announcements) => void
  /** Everything heard, which is forgotten then; undefined when it was more than may be kept. */
  readonly take: () => FilterChanges | undefined
}

interface Filter {
  readonly backlog: Backlog
  /** Of log filters only. */
  readonly query: LogQuery | undefined
  /** Wall time in milliseconds. */
  lastPolled: number
  /** The first block that `logs` looks at, for a log filter that begins at the newest block. */
  since: bigint
}

/**
 * The poll filters of one chain. A filter that nobody polls expires; expired ones are swept whenever filters are used
 * or fed, so no timer is needed. A revert does not touch filters: it reaches them as removed logs.
 */
export class Filters {
  readonly #chain: Chain
  readonly #limits: FilterLimits
  readonly #filters = new Map<bigint, Filter>()
  readonly #stopListening: () => void
  #nextId = 1n

  constructor(chain: Chain, limits: Partial<FilterLimits> = {}) {
    this.#chain = chain
    this.#limits = { ...DEFAULT_FILTER_LIMITS, ...limits }
    this.#stopListening = chain.onChange((change) => this.#feed(change))
  }

  /** Number of filters that have not expired. */
  get size(): number {
    this.#sweep()
    return this.#filters.size
  }

  /**
   * Listens to logs that match. Numbers in `from` and `to` bound the blocks that are listened to; tags do not, as
   * whatever comes is newer than `latest` was.
   * @returns the filter's id
   * @throws {DevchainError} `INVALID_PARAMS` for a range that ends before it begins, `NOT_FOUND` for an unknown block hash,
   *   `LIMIT_EXCEEDED` when there are too
   *   many filters
   */
  addLogFilter(query: LogQuery): bigint {
    checkQuery(this.#chain.state, query)
    const select = ({ removedLogs, addedLogs }: Announcements): readonly LogEntry[] =>
      [...removedLogs, ...addedLogs].filter((entry) => isWanted(query, entry))
    return this.#add(select, (logs) => ({ kind: 'logs', logs }), query)
  }

  /** Listens to new blocks. Returns and throws as `addLogFilter`. */
  addBlockFilter(): bigint {
    // one more than is kept says that there were too many
    const most = this.#limits.backlog + 1
    const select = ({ heads }: Announcements): readonly Hash[] =>
      Array.from({ length: Math.min(heads.length, most) }, (_, index) => heads.hashAt(index))
    return this.#add(select, (hashes) => ({ kind: 'blocks', hashes }))
  }

  /** Listens to transactions that enter the pool. Returns and throws as `addLogFilter`. */
  addPendingFilter(): bigint {
    const select = ({ pending }: Announcements): readonly Hash[] => pending.map(({ hash }) => hash)
    return this.#add(select, (hashes) => ({ kind: 'transactions', hashes }))
  }

  /**
   * What happened since the last poll, oldest first.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `LIMIT_EXCEEDED` when more happened than the
   *   filter may keep: that is dropped, and the next poll goes on from here
   */
  changes(id: bigint): FilterChanges {
    const changes = this.#polled(id).backlog.take()
    if (changes !== undefined) return changes
    const limit = this.#limits.backlog
    const message = `filter ${quantityFromBigint(id)} missed changes: more than ${limit} came without a poll`
    throw new DevchainError('LIMIT_EXCEEDED', message, { limit })
  }

  /**
   * All stored logs in a log filter's range, whether delivered or not. `latest` as the beginning is the newest block
   * of the moment when the filter was made.
   * @throws {DevchainError} `NOT_FOUND` for an unknown or expired id, `INVALID_PARAMS` for a filter of another kind
   */
  async logs(id: bigint): Promise<LogEntry[]> {
    const { query, since } = this.#polled(id)
    if (query === undefined) {
      const message = `filter ${quantityFromBigint(id)} is not a log filter: ask eth_getFilterChanges for its changes`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    return findLogs(this.#chain, storedRange(query, since), this.#limits.backlog)
  }

  /** Ends a filter; false when there is none of that id. */
  remove(id: bigint): boolean {
    this.#sweep()
    return this.#filters.delete(id)
  }

  /** Forgets all filters and stops listening to the chain. */
  close(): void {
    this.#stopListening()
    this.#filters.clear()
  }

  #add<T>(
    select: (announcements: Announcements) => readonly T[],
    answer: (kept: readonly T[]) => FilterChanges,
    query?: LogQuery,
  ): bigint {
    this.#sweep()
    const { filters, backlog } = this.#limits
    if (this.#filters.size >= filters) {
      const message = `too many filters: there may be ${filters} at a time; uninstall those no longer needed`
      throw new DevchainError('LIMIT_EXCEEDED', message, { limit: filters })
    }
    const id = this.#nextId
    this.#nextId += 1n
    this.#filters.set(id, {
      backlog: boundedBacklog(select, answer, backlog),
      query,
      lastPolled: this.#chain.environment.now(),
      since: headOf(this.#chain.state.tree).block.header.number,
    })
    return id
  }

  /** The filter, its time-out beginning anew. */
  #polled(id: bigint): Filter {
    this.#sweep()
    const filter = this.#filters.get(id)
    if (filter === undefined) {
      throw new DevchainError('NOT_FOUND', `filter ${quantityFromBigint(id)} not found`)
    }
    filter.lastPolled = this.#chain.environment.now()
    return filter
  }

  #feed(change: StateChange): void {
    if (this.#filters.size === 0) return
    this.#sweep()
    const announcements = announcementsOf(change)
    const fork = change.head.removed.at(-1)?.block.header.number
    for (const filter of this.#filters.values()) {
      if (fork !== undefined && fork < filter.since) filter.since = fork
      filter.backlog.hear(announcements)
    }
  }

  #sweep(): void {
    const oldest = this.#chain.environment.now() - this.#limits.timeoutMs
    for (const [id, { lastPolled }] of this.#filters) {
      if (lastPolled < oldest) this.#filters.delete(id)
    }
  }
}

/** Keeps what `select` finds in each change; drops everything, and listens no more, where that is above `bound`. */
function boundedBacklog<T>(
  select: (announcements: Announcements) => readonly T[],
  answer: (kept: readonly T[]) => FilterChanges,
  bound: number,
): Backlog {
  let kept: T[] | undefined = []
  return {
    hear: (announcements) => {
      if (kept === undefined) return
      const heard = select(announcements)
      if (kept.length + heard.length > bound) kept = undefined
      else for (const each of heard) kept.push(each)
    },
    take: () => {
      const taken = kept
      kept = []
      return taken === undefined ? undefined : answer(taken)
    },
  }
}

/** Numbers bound what a log filter hears. A block hash names one block, so nothing new ever matches but its removal. */
function isWanted(query: LogQuery, { log, record }: LogEntry): boolean {
  const { header, hash } = record.block
  if (query.blockHash !== undefined && query.blockHash !== hash) return false
  const first = boundOf(query.from)
  const last = boundOf(query.to)
  if (first !== undefined && header.number < first) return false
  if (last !== undefined && header.number > last) return false
  return matches(query, log)
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
