// Chains on disk (--state). Loads src/store only when needed.
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { Chain, Commit } from '../../node/chain/chain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { ForkSource } from '../../node/ledger/upstream.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { KeptLabels } from '../../project/naming/labels.ts'
import type { StoreOptions } from '../../store/chainstore.ts'
import type { ChainStores } from '../../store/chainstores.ts'
import type { ChainFolder } from '../../store/folder.ts'
import type { Pack } from '../../store/packfile.ts'
import { resumeFork } from '../forking.ts'
import { KeptForks } from './keptforks.ts'

export type OnNotice = (text: string) => void

/** What a chain began with, as far as its state does not say: a plain value. */
export interface About {
  /** SHA-256 of the genesis file. */
  readonly genesis?: string | undefined
  readonly compat?: DevchainSettings['compat']
  /** Its own, for a chain at a path that has some. */
  readonly options?: object | undefined
  /** Grows with each chain that begins. */
  readonly turn?: number | undefined
  readonly isSetUp?: boolean | undefined
  readonly labels?: ReadonlyMap<Address, string> | undefined
}

/** The place of one chain in the folder. */
export interface ChainPlace {
  /** Undefined for a new chain. */
  readonly state: ChainState | undefined
  /** To be called with the first state of a new chain. */
  readonly begin: (state: ChainState) => MaybePromise<void>
  readonly commit: Commit
  readonly labels: KeptLabels
  /** To be called once it is open. */
  readonly attach: (chain: Chain) => void
}

/** A chain's file, and what it began with, for another thread: plain values. */
export interface SentPlace {
  readonly path: string
  readonly about: About
  /** As it goes on here, of a chain that is on disk. */
  readonly fork: ForkSource | undefined
}

export interface LentPlace {
  readonly sent: SentPlace
  /** To be called when the thread has closed the file, or has ended. */
  readonly giveBack: () => Promise<void>
}

/** Milliseconds for which other chains wait for one that runs a command. */
const PATIENCE_MS = 250

/** Names of chains begin with a letter or a digit. */
export const FIRST = '/'
const BEGINNING = '/beginning'

type Settings = DevchainSettings & { readonly state: string }

interface KeepingOptions {
  readonly settings: Settings
  readonly folder: ChainFolder
  readonly onNotice: OnNotice
}

/** The chains of a process on disk, or those that run in one of its threads. */
export class Keeping {
  readonly forks: KeptForks
  readonly #options: KeepingOptions
  readonly #store: ChainStores
  /** By name. A chain that ended may still have a command that runs: its place is none any more. */
  readonly #places = new Map<string, ChainPlace>()
  readonly #open = new Map<string, Chain>()
  #nextTurn: number

  constructor(options: KeepingOptions) {
    const { settings, folder } = options
    this.forks = new KeptForks(settings.state, folder.stores)
    this.#options = options
    this.#store = folder.stores
    this.#nextTurn = 1 + Math.max(0, ...this.#store.names().map((name) => this.#turnOf(name)))
  }

  /** Of the chains at paths, the oldest first. */
  get names(): readonly string[] {
    const names = this.#store.names().filter((name) => !name.startsWith('/'))
    return names.sort((a, b) => this.#turnOf(a) - this.#turnOf(b))
  }

  async list(): Promise<readonly ListedChain[]> {
    await this.openForks()
    return [FIRST, ...this.names].flatMap((name) => {
      const state = this.stateOf(name)
      if (state === undefined) return []
      const path = name === FIRST ? FIRST : `/${name}`
      return { path, state, compat: this.aboutOf(name)?.compat }
    })
  }

  #turnOf(name: string): number {
    return this.aboutOf(name)?.turn ?? 0
  }

  aboutOf(name: string): About | undefined {
    return this.#store.at(name)?.about as About | undefined
  }

  /** Also one that a thread has. */
  has(name: string): boolean {
    return this.#store.names().includes(name)
  }

  /** Undefined if there is none, or while a thread has it. */
  stateOf(name: string): ChainState | undefined {
    return this.#store.at(name)?.state
  }

  /** @param begun for a new chain */
  place(name: string, begun: About): ChainPlace {
    let about: About = this.aboutOf(name) ?? { turn: this.#nextTurn++, ...begun }
    const begin = (state: ChainState): MaybePromise<void> =>
      this.#places.get(name) === place ? this.#store.keep(name, { about, state }) : undefined
    const commit: Commit = ({ after }) => begin(after)
    const attach = (chain: Chain): void => {
      this.#open.set(name, chain)
      chain.onClose(() => {
        if (this.#open.get(name) === chain) this.#open.delete(name)
      })
    }
    const labels: KeptLabels = {
      known: about.labels ?? new Map(),
      keep: (given) => {
        about = { ...about, labels: given }
        const state = this.stateOf(name)
        return state && begin(state)
      },
    }
    const place = { state: this.stateOf(name), begin, commit, labels, attach }
    this.#places.set(name, place)
    return place
  }

  /** @throws {DevchainError} `INVALID_PARAMS` for URLs of another network than the default chain's */
  async openForks(): Promise<void> {
    const { settings, onNotice } = this.#options
    const first = this.#store.forkOf(FIRST)?.name
    for (const source of this.forks.missing()) {
      const urls = source.name === first ? (settings.fork?.urls ?? []) : []
      await resumeFork(this.forks, settings, source, urls, onNotice)
    }
  }

  /**
   * Gives a chain to a thread.
   * @param begun of a new chain
   * @returns undefined if it is in the file that most chains share
   */
  async lend(name: string, begun: About): Promise<LentPlace | undefined> {
    if (this.#store.isShared(name)) return undefined
    const source = this.#store.forkOf(name)
    const fork = source && this.forks.at(source.name)?.fork.base.upstream.source
    const { path, giveBack } = await this.#store.lend(name)
    const about = { ...begun, turn: this.#nextTurn++ }
    return { sent: { path, about, fork }, giveBack: () => giveBack(() => this.openForks()) }
  }

  /** In a thread: opens the file of a chain. */
  async open(name: string, path: string, fork: ForkSource | undefined): Promise<void> {
    const { settings, onNotice } = this.#options
    if (fork !== undefined && this.forks.at(fork.name) === undefined) {
      await resumeFork(this.forks, settings, fork, [], onNotice)
    }
    this.#store.open(name, path)
    await this.openForks()
  }

  /** In a thread: closes the file of a chain. */
  async release(name: string): Promise<void> {
    this.#places.delete(name)
    await this.#store.release(name)
  }

  /** What chains at paths begin with, whatever happens to the default chain. */
  get beginning(): ChainState | undefined {
    return this.stateOf(BEGINNING)
  }

  get isSetUp(): boolean {
    return this.aboutOf(BEGINNING)?.isSetUp === true
  }

  /** @param isSetUp by `--setup`, which is not run again */
  keepBeginning(state: ChainState, isSetUp: boolean): MaybePromise<void> {
    return this.#store.keep(BEGINNING, { about: { isSetUp }, state })
  }

  forget(name: string): MaybePromise<void> {
    this.#places.delete(name)
    return this.#store.forget(name)
  }

  /** Frees the memory of a chain that was closed, which stays on disk. */
  rest(name: string): void {
    this.#places.delete(name)
    this.#store.rest(name)
  }

  /**
   * Calls `swap` while no chain runs a command; then chains go on with the states that the store has now.
   * @returns false if a command still runs after `PATIENCE_MS`
   */
  hold(swap: () => void): Promise<boolean> {
    const begun = [...this.#open].map(
      ([name, chain]) =>
        new Promise<void>((begin) => {
          const exchanged = chain.exchange(async () => {
            begin()
            return ((await held) && this.stateOf(name)) || chain.state
          })
          // `held` has the error
          exchanged.catch(() => undefined)
        }),
    )
    const late = delay(PATIENCE_MS, false, { ref: false })
    const held = Promise.race([Promise.all(begun).then(() => true), late]).then((isReady) => {
      if (isReady) swap()
      return isReady
    })
    return held
  }

  close(): Promise<void> {
    this.forks.close()
    return this.#options.folder.close()
  }
}

/**
 * @returns undefined without `--state`
 * @throws {DevchainError} `INVALID_PARAMS` for a folder that cannot be used, which stays as it is
 */
export async function openKeeping(
  settings: DevchainSettings,
  options: Pick<StoreOptions, 'onNotice' | 'onFailure' | 'leastCompacted'>,
): Promise<Keeping | undefined> {
  const { state, durability } = settings
  if (state === undefined) return undefined
  const { openFolder } = await import('../../store/folder.ts')
  const hold = (swap: () => void): Promise<boolean> => keeping.hold(swap)
  const folder = await openFolder(state, { durability, hold, ...options })
  const { onNotice } = options
  const keeping: Keeping = new Keeping({ settings: { ...settings, state }, onNotice, folder })
  return keeping
}

export interface ListedChain extends Pack {
  readonly path: string
}

/**
 * Works on the chains of a folder that no process has.
 * @throws {DevchainError} `DAMAGED` if they cannot be read; as `work`
 */
export async function withKept<T>(
  settings: Settings,
  onNotice: OnNotice,
  work: (chains: readonly ListedChain[]) => MaybePromise<T>,
): Promise<T> {
  const { noChainIn, requireChains } = await import('../../store/folder.ts')
  requireChains(settings.state)
  const keeping = await openKeeping(settings, { onNotice })
  try {
    const chains = (await keeping?.list()) ?? []
    if (chains.length === 0) throw noChainIn(settings.state)
    return await work(chains)
  } finally {
    await keeping?.close()
  }
}
