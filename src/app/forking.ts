// Starts forks of other networks, at the start or later. Loads src/fork only when needed.
import { DevchainError } from '../core/errors.ts'
import type { Executor } from '../evm/executor.ts'
import type { ForkSettings, Merged } from '../fork/door.ts'
import type { ForkOrder, ForkStarter, MethodContext } from '../methods/common/context.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { ChainOptions } from '../node/chainoptions.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { ForkBase, ForkSource, LazyState } from '../node/ledger/upstream.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { ForkChoice } from '../options/fork.ts'
import type { Reach } from '../rpc/dispatch.ts'
import { type KeptForks, SharedFork } from './keeping/keptforks.ts'

type Door = typeof import('../fork/door.ts')

type StateFrom = (fork: ForkBase | undefined) => Promise<ChainState>

interface ForkingOptions {
  readonly settings: DevchainSettings
  readonly executor: Executor
  readonly onNotice: (text: string) => void
  /** The forking of the chain that this one branches off: both use its forks. */
  readonly from?: Forking | undefined
  /** With `--state`: forks are kept on disk. */
  readonly kept?: KeptForks | undefined
  /** The fork of a pack. */
  readonly packed?: SharedFork | undefined
}

export class Forking implements ForkStarter {
  readonly #settings: DevchainSettings
  readonly #executor: Executor
  readonly #onNotice: (text: string) => void
  readonly #kept: KeptForks | undefined
  readonly #packed: SharedFork | undefined
  /** Oldest first. */
  readonly #open: SharedFork[]
  #door: Door | undefined
  #chain: Chain | undefined
  #choice: ForkChoice | undefined
  #stateFrom: StateFrom | undefined

  constructor({ settings, executor, onNotice, from, kept, packed }: ForkingOptions) {
    this.#kept = kept
    this.#packed = packed
    this.#settings = settings
    this.#executor = executor
    this.#onNotice = onNotice
    this.#open = from === undefined ? [] : from.#open.map((shared) => shared.join())
    this.#door = from === undefined ? undefined : from.#door
    this.#choice = from === undefined ? settings.fork : from.#choice
  }

  /** How methods reach the forked network; undefined without a fork. */
  get reach(): Reach<MethodContext> | undefined {
    return this.#door?.reach
  }

  /**
   * The chain's fork, as the options say.
   * @throws {DevchainError} `INVALID_PARAMS` for options that need a fork where there is none
   */
  async atStart(): Promise<Pick<ChainOptions, 'fork' | 'runFirst' | 'lazyState'>> {
    const {
      fork,
      forkReplay,
      forkRecord,
      forkTransaction,
      chainId,
      baseFee,
      genesis,
      import: blocks,
    } = this.#settings
    if (fork === undefined && forkReplay === undefined) {
      requireNoFork({
        '--chain-id remote': chainId === 'remote',
        '--base-fee remote': baseFee === 'remote',
        '--fork-record': forkRecord !== undefined,
        '--fork-transaction': forkTransaction !== undefined,
        '--fork-later': this.#settings.forkLater,
        '--fork-chain-id': this.#settings.forkChainId !== undefined,
      })
      return {}
    }
    if (genesis !== undefined || blocks !== undefined) {
      const message = 'a fork starts with the blocks of its network: remove --genesis and --import'
      throw new DevchainError('INVALID_PARAMS', message)
    }
    requireTogether(this.#settings)
    const door = await this.#load()
    const base = this.#begin(this.#settings)
    await door.warmUpUntil(base, this.#executor)
    const begun = await base
    requireLater(this.#settings.timestamp, begun)
    const runFirst = this.#open.at(-1)?.fork.runFirst
    return { fork: begun, runFirst, lazyState: this.#lazyState(door) }
  }

  /** Goes on with the fork of a chain on disk or in a pack, which is open. */
  async resume({
    config: { upstream },
  }: ChainState): Promise<Pick<ChainOptions, 'fork' | 'lazyState'>> {
    if (upstream === undefined) return {}
    const { name, urls } = upstream.source
    if (this.#packed !== undefined && urls.length > 0) this.#kept?.add(this.#packed)
    const shared = this.#packed ?? this.#kept?.at(name)
    if (shared === undefined) throw new Error(`the fork ${name} is not open`)
    const door = await this.#load()
    this.#open.push(shared.join())
    this.#choice = { urls, block: `${upstream.number}` }
    return { fork: shared.fork.base, lazyState: this.#lazyState(door) }
  }

  /** Opens a fork that began in another thread, without a request. */
  async beginAgain(source: ForkSource): Promise<ForkBase> {
    const door = await this.#load()
    const begun = { ...settingsAgain(this.#settings, source, []), folder: this.#kept?.folder }
    const shared = new SharedFork(await door.openFork(begun, this.#onNotice))
    this.#open.push(shared)
    this.#kept?.add(shared)
    const { base } = shared.fork
    this.#choice = { urls: source.urls, block: `${base.upstream.number}` }
    return base
  }

  /** How a chain that branches off another loads missing state; undefined: all state is local. */
  get lazyState(): LazyState | undefined {
    return this.#door && this.#lazyState(this.#door)
  }

  /** Attaches the chain; `stateFrom` makes its state after a reset with other options. */
  async serve(chain: Chain, stateFrom: StateFrom): Promise<void> {
    this.serveBranch(chain, stateFrom)
    await this.#open.at(-1)?.fork.fill(chain)
  }

  /** Attaches a chain that branches off another, whose forks are filled. */
  serveBranch(chain: Chain, stateFrom: StateFrom): void {
    this.#chain = chain
    this.#stateFrom = stateFrom
    chain.onClose(() => this.leaveAll())
  }

  /** The same forks without a chain, kept open until `leaveAll`. */
  held(): Forking {
    const [settings, executor, onNotice] = [this.#settings, this.#executor, this.#onNotice]
    return new Forking({ settings, executor, onNotice, from: this, kept: this.#kept })
  }

  /** A fork that no other chain uses is closed. */
  leaveAll(): void {
    for (const shared of this.#open.splice(0)) shared.leave()
  }

  knowsNetwork(): boolean {
    return this.#choice !== undefined
  }

  async begin({ url, block }: ForkOrder): Promise<ChainState> {
    const before = this.#choice ?? { urls: [], block: undefined }
    const choice = url === undefined ? { ...before, block } : { urls: [url], block }
    const fork = await this.#begin({
      ...this.#settings,
      fork: choice,
      forkReplay: undefined,
      forkTransaction: undefined,
      // another URL may lead to another network
      forkChainId: url === undefined ? this.#settings.forkChainId : undefined,
    })
    this.#choice = choice
    this.#chain?.execution.fetchWith(this.#lazyState(await this.#load()))
    return this.#state(fork)
  }

  async move(url: string): Promise<void> {
    const upstream = this.#chain?.state.config.upstream
    if (upstream === undefined) {
      const message = 'this chain is not a fork: there is no RPC URL to change'
      throw new DevchainError('METHOD_NOT_SUPPORTED', message)
    }
    await upstream.moveTo(url)
    this.#choice = { urls: [url], block: this.#choice?.block }
  }

  leave(): Promise<ChainState> {
    return this.#state(undefined)
  }

  #lazyState({ lazyStateOf }: Door): LazyState {
    // while the chain is being made, the newest fork is the one in use
    return lazyStateOf(() =>
      this.#chain === undefined
        ? this.#open.at(-1)?.fork.base.upstream
        : this.#chain.state.config.upstream,
    )
  }

  #state(fork: ForkBase | undefined): Promise<ChainState> {
    if (this.#stateFrom === undefined) throw new Error('the chain does not exist yet')
    return this.#stateFrom(fork)
  }

  async #begin(settings: ForkSettings): Promise<ForkBase> {
    const { openFork } = await this.#load()
    const headerUrls = this.#settings.fork?.urls
    const folder = this.#kept?.folder
    const opened = await openFork({ ...settings, headerUrls, folder }, this.#onNotice)
    const shared = new SharedFork(opened)
    this.#open.push(shared)
    if (opened.base.upstream.source.urls.length > 0) this.#kept?.add(shared)
    this.#closeOld()
    return opened.base
  }

  /** A reset drops all snapshots, so only the fork before the last reset can still be in use by the chain. */
  #closeOld(): void {
    const current = this.#chain?.state.config.upstream
    for (const old of this.#open.slice(0, -2)) {
      if (old.fork.base.upstream === current) continue
      this.#open.splice(this.#open.indexOf(old), 1)
      old.leave()
    }
  }

  async #load(): Promise<Door> {
    this.#door ??= await import('../fork/door.ts')
    return this.#door
  }
}

/**
 * Merges recordings of one fork into a file.
 * @throws {DevchainError} `INVALID_PARAMS` for recordings of different forks
 */
export async function mergeRecordings(into: string, others: readonly string[]): Promise<Merged> {
  const door = await import('../fork/door.ts')
  return door.mergeRecordings(into, others)
}

/**
 * Opens the fork of chains on disk. It takes no requests, unless other URLs are given.
 * @throws {DevchainError} `INVALID_PARAMS` for URLs of another network
 */
export async function resumeFork(
  kept: KeptForks,
  settings: DevchainSettings,
  source: ForkSource,
  given: readonly string[],
  onNotice: (text: string) => void,
): Promise<void> {
  const { openFork } = await import('../fork/door.ts')
  const begun = { ...settingsAgain(settings, source, given), folder: kept.folder }
  const fork = new SharedFork(await openFork(begun, onNotice))
  kept.add(fork)
  fork.leave()
}

/**
 * Opens the fork of a pack, from the URL or the recording that the settings name.
 * @throws {DevchainError} `INVALID_PARAMS` for a network or a recording of another block
 */
export async function openPackedFork(
  settings: DevchainSettings,
  fork: Omit<ForkSource, 'urls'>,
  kept: KeptForks | undefined,
  onNotice: (text: string) => void,
): Promise<SharedFork> {
  const { openFork } = await import('../fork/door.ts')
  const again = settingsAgain(settings, { ...fork, urls: [] }, settings.fork?.urls ?? [])
  const opened = await openFork({ ...again, folder: kept?.folder }, onNotice)
  const { name } = opened.base.upstream.source
  if (name === fork.name) return new SharedFork(opened)
  opened.close()
  const message = `${settings.forkReplay} is a recording of ${name}, and the pack is a fork of ${fork.name}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** @param given URLs to use from now on; none: those that it had */
function settingsAgain(
  settings: DevchainSettings,
  { head, urls, takesChainId, takesBaseFee }: ForkSource,
  given: readonly string[],
): ForkSettings {
  const isOther = given.length > 0 && given.join() !== urls.join()
  return {
    ...settings,
    fork: { urls: isOther ? given : urls, block: undefined },
    headerUrls: settings.fork?.urls,
    begun: { head, mustMeet: isOther },
    forkProofs: (head as { readonly proofs?: true }).proofs === true,
    chainId: takesChainId ? 'remote' : undefined,
    baseFee: takesBaseFee ? 'remote' : undefined,
    forkLater: false,
  }
}

function requireNoFork(given: Readonly<Record<string, boolean>>): void {
  for (const [name, isGiven] of Object.entries(given)) {
    if (!isGiven) continue
    throw new DevchainError('INVALID_PARAMS', `${name} needs --fork URL`)
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a timestamp before the fork's block */
function requireLater(timestamp: bigint | undefined, { header }: ForkBase): void {
  if (timestamp === undefined || timestamp >= header.timestamp) return
  const message = `timestamp: expected at least ${header.timestamp}, the time of the forked block ${header.number}, got ${timestamp}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** @throws {DevchainError} `INVALID_PARAMS` for fork options that contradict each other */
function requireTogether({ fork, forkTransaction, forkLater, chainId }: DevchainSettings): void {
  const problem =
    forkTransaction !== undefined && fork?.block !== undefined
      ? '--fork-transaction selects its own block: remove @BLOCK from --fork'
      : forkLater && forkTransaction === undefined
        ? '--fork-later needs --fork-transaction HASH'
        : forkLater && chainId !== 'remote'
          ? "--fork-later needs --chain-id remote: the network's transactions are signed for its chain id"
          : undefined
  if (problem !== undefined) throw new DevchainError('INVALID_PARAMS', problem)
}
