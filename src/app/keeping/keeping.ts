// Chains on disk (--state). Loads src/store only when needed.
import type { Address } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { Chain, Commit } from '../../node/chain/chain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { KeptLabels } from '../../project/naming/labels.ts'
import type { ChainStore, StoreOptions } from '../../store/chainstore.ts'
import type { ChainFolder } from '../../store/folder.ts'
import { resumeForks } from '../forking.ts'
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

/** Milliseconds for which other chains wait for one that runs a command. */
const PATIENCE_MS = 250

/** Names of chains begin with a letter or a digit. */
export const FIRST = '/'
const BEGINNING = '/beginning'

/** The chains of a process on disk. */
export class Keeping {
  readonly forks: KeptForks
  readonly #folder: ChainFolder
  readonly #store: ChainStore
  /** By name. A chain that ended may still have a command that runs: its place is none any more. */
  readonly #places = new Map<string, ChainPlace>()
  readonly #open = new Map<string, Chain>()
  #nextTurn: number

  constructor(path: string, folder: ChainFolder) {
    this.forks = new KeptForks(path, folder.store)
    this.#folder = folder
    this.#store = folder.store
    this.#nextTurn = 1 + Math.max(0, ...this.#store.names().map((name) => this.#turnOf(name)))
  }

  /** Of the chains at paths, the oldest first. */
  get names(): readonly string[] {
    const names = this.#store.names().filter((name) => !name.startsWith('/'))
    return names.sort((a, b) => this.#turnOf(a) - this.#turnOf(b))
  }

  async list(settings: DevchainSettings, onNotice: OnNotice): Promise<readonly ListedChain[]> {
    await resumeForks(this.forks, settings, undefined, onNotice)
    return [FIRST, ...this.names].flatMap((name) => {
      const state = this.stateOf(name)
      const { compat } = this.aboutOf(name) ?? {}
      return state === undefined
        ? []
        : [{ path: name === FIRST ? FIRST : `/${name}`, state, compat }]
    })
  }

  #turnOf(name: string): number {
    return this.aboutOf(name)?.turn ?? 0
  }

  aboutOf(name: string): About | undefined {
    return this.#store.at(name)?.about as About | undefined
  }

  stateOf(name: string): ChainState | undefined {
    return this.#store.at(name)?.state
  }

  /** @param begun for a new chain */
  place(name: string, begun: About): ChainPlace {
    let about: About = this.aboutOf(name) ?? { ...begun, turn: this.#nextTurn++ }
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
  async openForks(settings: DevchainSettings, onNotice: OnNotice): Promise<void> {
    await resumeForks(this.forks, settings, this.#store.forkOf(FIRST)?.name, onNotice)
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
    const open = [...this.#open]
    let running = open.length
    let settle: (isReady: boolean) => void = () => undefined
    const ready = new Promise<boolean>((resolve) => {
      settle = resolve
    })
    const patience = setTimeout(() => settle(false), PATIENCE_MS)
    const held = ready.then((isReady) => {
      clearTimeout(patience)
      if (isReady) swap()
      return isReady
    })
    for (const [name, chain] of open) {
      const exchanged = chain.exchange(async () => {
        running -= 1
        if (running === 0) settle(true)
        return ((await held) && this.stateOf(name)) || chain.state
      })
      // `held` has the error
      exchanged.catch(() => undefined)
    }
    if (running === 0) settle(true)
    return held
  }

  close(): Promise<void> {
    this.forks.close()
    return this.#folder.close()
  }
}

/**
 * @returns undefined without `--state`
 * @throws {DevchainError} `INVALID_PARAMS` for a folder that cannot be used, which stays as it is
 */
export async function openKeeping(
  { state, durability }: DevchainSettings,
  options: Pick<StoreOptions, 'onNotice' | 'leastCompacted'>,
): Promise<Keeping | undefined> {
  if (state === undefined) return undefined
  const { openFolder } = await import('../../store/folder.ts')
  const hold = (swap: () => void): Promise<boolean> => keeping.hold(swap)
  const keeping: Keeping = new Keeping(state, openFolder(state, { durability, hold, ...options }))
  return keeping
}

export interface ListedChain {
  readonly path: string
  readonly state: ChainState
  readonly compat: DevchainSettings['compat']
}

/**
 * Works on the chains of a folder that no process has.
 * @throws {DevchainError} `DAMAGED` if they cannot be read; as `work`
 */
export async function withKept<T>(
  settings: DevchainSettings & { readonly state: string },
  onNotice: OnNotice,
  work: (chains: readonly ListedChain[]) => MaybePromise<T>,
): Promise<T> {
  const { requireChains } = await import('../../store/folder.ts')
  requireChains(settings.state)
  const keeping = await openKeeping(settings, { onNotice })
  try {
    return await work((await keeping?.list(settings, onNotice)) ?? [])
  } finally {
    await keeping?.close()
  }
}
