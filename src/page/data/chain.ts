// The chain as the page knows it: its head, what it read, and what a revert or a reorg left behind.
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import { CallError, RpcSocket } from './socket.ts'

export type Head = Readonly<{ number: number; hash: string }>

export interface ChainView {
  readonly status: 'connecting' | 'open' | 'lost'
  readonly head: Head | undefined
  /** Changes when blocks were taken away, or names: what was read by number or transaction may differ. */
  readonly era: number
  /** Changes with every change of the chain. */
  readonly version: number
  readonly pending: number
  readonly chainId: number | undefined
  /** Why the page shows nothing, such as a disabled method. */
  readonly problem: string | undefined
}

/** How long a result stays right: until blocks are taken away or names change, or until the next change. */
export type Lifetime = 'era' | 'now'

export interface Kept {
  readonly value: unknown
  readonly error: Error | undefined
  readonly stamp: string
  /** Characters of JSON. */
  readonly size: number
}

type Listener = (result: unknown) => void

type RpcPool = Readonly<Record<'pending' | 'queued', string>>

type ChangeNews = Readonly<
  Record<'blockNumber' | 'blockHash' | 'removed' | 'added' | 'pending', string>
> & { readonly names: boolean }

/** Results, and their sizes, of which at most twice as many are kept. */
const KEPT = 2_000
const KEPT_SIZE = { most: 12_000_000, of: ({ size }: Kept): number => size }

/** Milliseconds between two drawings of changes: nobody reads more, and a hidden page is not read. */
const BETWEEN_MS = 80
const HIDDEN_MS = 1_000

/** Sends `change` when its view changed. */
class ChainClient extends EventTarget {
  readonly path: string = location.pathname.replace(/(?<=.)\/$/, '')
  readonly socket: RpcSocket
  #kept = new LruCache<string, Kept>(KEPT, KEPT_SIZE)
  readonly #running = new Map<string, Promise<Kept>>()
  /** Listeners by kind of subscription, and by the subscription of this connection. */
  readonly #kinds = new Map<string, Listener>([
    ['changes', (result) => this.#take(result as ChangeNews)],
  ])
  readonly #news = new Map<string, Listener>()
  #view: ChainView = {
    status: 'connecting',
    head: undefined,
    era: 0,
    version: 0,
    pending: 0,
    chainId: undefined,
    problem: undefined,
  }
  #isAnnouncing = false
  #announcedMs = 0

  constructor() {
    super()
    this.socket = new RpcSocket(`${location.origin.replace(/^http/, 'ws')}${this.path}`, {
      onOpen: () => void this.#begin(),
      onLost: () => this.#set({ status: 'lost' }),
      onNews: (id, result) => this.#news.get(id)?.(result),
    })
  }

  get view(): ChainView {
    return this.#view
  }

  /** What is right until the next change is read again. */
  refresh(): void {
    this.#set({ version: this.#view.version + 1 })
  }

  /** Sends a request whose result is not kept. */
  async request<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return (await this.socket.request(method, params, true)).result as T
  }

  /** The stamp of a result that is right now. */
  stampOf(span: Lifetime): string {
    const { era, version } = this.#view
    return span === 'era' ? `${era}` : `${era}.${version}`
  }

  /** What was read last; it may be out of date. */
  kept(key: string): Kept | undefined {
    return this.#kept.get(key)
  }

  /** Reads once for all who ask at the same time. Never rejects. */
  read(key: string, method: string, params: readonly unknown[], span: Lifetime): Promise<Kept> {
    return getOrMake(this.#running, key, () => {
      const stamp = this.stampOf(span)
      return this.socket
        .request(method, params, /trace/i.test(method))
        .then(
          ({ result, size }) => ({ value: result, error: undefined, stamp, size }),
          (error: Error) => ({ value: undefined, error, stamp, size: 100 }),
        )
        .then((kept) => {
          this.#running.delete(key)
          if (this.#view.status === 'open') this.#kept.set(key, kept)
          return kept
        })
    })
  }

  /** Notifications of this kind from now on, through all connections. */
  subscribe(kind: string, listener: Listener): void {
    this.#kinds.set(kind, listener)
    // without a connection, the next one begins with it
    void this.#listen(kind, listener).catch(() => undefined)
  }

  async #listen(kind: string, listener: Listener): Promise<void> {
    this.#news.set(await this.request<string>('eth_subscribe', kind), listener)
  }

  async #begin(): Promise<void> {
    this.#news.clear()
    this.#kept = new LruCache(KEPT, KEPT_SIZE)
    const { head: known } = this.#view
    try {
      await Promise.all([...this.#kinds].map((each) => this.#listen(...each)))
      const [block, status] = await Promise.all([
        this.request<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false),
        // its module may be disabled
        this.request<RpcPool>('txpool_status').catch(
          (): RpcPool => ({ pending: '0', queued: '0' }),
        ),
        this.#readChainId(),
      ])
      const head = { number: Number(block.number), hash: block.hash }
      const pending = Number(status.pending) + Number(status.queued)
      // a change that came meanwhile is newer
      const news = this.#view.head === known ? { head, pending } : {}
      this.#set({ ...news, problem: undefined, status: 'open', era: this.#view.era + 1 })
    } catch (error) {
      // a lost connection is begun again
      if (error instanceof CallError) this.#set({ problem: error.message })
    }
  }

  async #readChainId(): Promise<void> {
    this.#set({ chainId: Number(await this.request<string>('eth_chainId')) })
  }

  #take({ blockNumber, blockHash, removed, added, pending, names }: ChangeNews): void {
    // the id of a chain can be set, and no block comes of it
    if (Number(added) === 0) void this.#readChainId().catch(() => undefined)
    const head = { number: Number(blockNumber), hash: blockHash }
    const { era, version } = this.#view
    const next = { head, pending: Number(pending), version: version + 1 }
    this.#set({ ...next, era: names || Number(removed) > 0 ? era + 1 : era })
  }

  /** Listeners hear of many changes at once. */
  #set(news: Partial<ChainView>): void {
    this.#view = { ...this.#view, ...news }
    if (this.#isAnnouncing) return
    this.#isAnnouncing = true
    const waitMs = this.#announcedMs + BETWEEN_MS - performance.now()
    setTimeout(() => this.#announce(), document.hidden ? HIDDEN_MS : Math.max(0, waitMs))
  }

  #announce(): void {
    this.#isAnnouncing = false
    this.#announcedMs = performance.now()
    this.dispatchEvent(new Event('change'))
  }
}

/** Of the chain at whose URL the page is. */
export const client: ChainClient = new ChainClient()
