// Starts forks of other networks, at the start or later. Loads src/fork only when needed.
import { DevchainError, invalidParams } from '../core/errors.ts'
import type { Executor } from '../evm/executor.ts'
import type { ForkSettings, Merged } from '../fork/door.ts'
import type { ForkOrder, ForkStarter, MethodContext } from '../methods/common/context.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { ChainOptions } from '../node/chainoptions.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { ForkBase, ForkSource, LazyState } from '../node/ledger/upstream.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { type ForkChoice, isOtherBlock } from '../options/fork.ts'
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
  readonly #options: Omit<ForkingOptions, 'from'>
  /** Oldest first. */
  readonly #open: SharedFork[]
  #door: Door | undefined
  #chain: Chain | undefined
  #choice: ForkChoice | undefined
  #stateFrom: StateFrom | undefined
  /** Where a replay began: resets without a URL go back to it. */
  #replayed: ChainState | undefined

  constructor({ from, ...options }: ForkingOptions) {
    this.#options = options
    this.#open = from === undefined ? [] : from.#open.map((shared) => shared.join())
    this.#door = from === undefined ? undefined : from.#door
    this.#choice = from === undefined ? options.settings.fork : from.#choice
    this.#replayed = from === undefined ? undefined : from.#replayed
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
    const { settings, executor } = this.#options
    if (settings.fork === undefined && settings.forkReplay === undefined) {
      requireNoFork({
        '--chain-id remote': settings.chainId === 'remote',
        '--base-fee remote': settings.baseFee === 'remote',
        '--fork-record': settings.forkRecord !== undefined,
        '--fork-transaction': settings.forkTransaction !== undefined,
        '--fork-later': settings.forkLater,
        '--fork-chain-id': settings.forkChainId !== undefined,
      })
      return {}
    }
    if (settings.genesis !== undefined || settings.import !== undefined) {
      const message = 'a fork starts with the blocks of its network: remove --genesis and --import'
      throw invalidParams(message)
    }
    requireTogether(settings)
    const door = await this.#load()
    const base = this.#begin(settings)
    await door.warmUp(executor, base)
    const begun = await base
    requireLater(settings.timestamp, begun)
    const runFirst = this.#open.at(-1)?.fork.runFirst
    return { fork: begun, runFirst, lazyState: this.#lazyState(door) }
  }

  /** Goes on with the fork of a chain on disk or in a pack, which is open. */
  async resume({
    config: { upstream },
  }: ChainState): Promise<Pick<ChainOptions, 'fork' | 'lazyState'>> {
    if (upstream === undefined) return {}
    const { name, urls } = upstream.source
    const { packed, kept } = this.#options
    if (packed !== undefined && urls.length > 0) kept?.add(packed)
    const shared = packed ?? kept?.at(name)
    if (shared === undefined) throw new Error(`the fork ${name} is not open`)
    const door = await this.#load()
    this.#open.push(shared.join())
    this.#choice = { urls, block: `${upstream.number}` }
    return { fork: shared.fork.base, lazyState: this.#lazyState(door) }
  }

  /** Opens a fork that began in another thread, without a request. */
  async beginAgain(source: ForkSource): Promise<ForkBase> {
    const base = await this.#begin(settingsAgain(this.#options.settings, source, []))
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
    const { origin } = chain.state
    // other forks have a URL
    const isReplay = origin?.config.upstream?.source.urls.length === 0
    if (isReplay && this.#options.settings.forkReplay !== undefined) this.#replayed ??= origin
    chain.onClose(() => this.leaveAll())
  }

  /** The same forks without a chain, kept open until `leaveAll`. */
  held(): Forking {
    return new Forking({ ...this.#options, packed: undefined, from: this })
  }

  /** A fork that no other chain uses is closed. */
  leaveAll(): void {
    for (const shared of this.#open.splice(0)) shared.leave()
  }

  knowsNetwork(): boolean {
    return (this.#choice ?? this.#replayed) !== undefined
  }

  async begin({ url, block }: ForkOrder): Promise<ChainState> {
    if (url === undefined && this.#replayed !== undefined) {
      this.#requireReplayed(block, this.#replayed)
      return this.#replayed
    }
    const before = this.#choice ?? { urls: [], block: undefined }
    const choice = url === undefined ? { ...before, block } : { urls: [url], block }
    const { settings } = this.#options
    const fork = await this.#begin({
      ...settings,
      fork: choice,
      forkReplay: undefined,
      forkTransaction: undefined,
      // another URL may lead to another network
      forkChainId: url === undefined ? settings.forkChainId : undefined,
    })
    this.#choice = choice
    this.#replayed = undefined
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
    await this.#load()
    const headerUrls = this.#options.settings.fork?.urls
    const shared = await openShared({ ...settings, headerUrls }, this.#options)
    const { base } = shared.fork
    this.#open.push(shared)
    if (base.upstream.source.urls.length > 0) this.#options.kept?.add(shared)
    this.#closeOld()
    return base
  }

  /** @throws {DevchainError} `INVALID_PARAMS` for another block than the one that is replayed */
  #requireReplayed(block: string | undefined, { tree }: ChainState): void {
    const { header, hash } = headOf(tree).block
    if (!isOtherBlock(block, header.number, hash)) return
    const begins = `it begins at block ${header.number} (${hash})`
    throw invalidParams(`${this.#options.settings.forkReplay} is replayed: ${begins}, not ${block}`)
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
  return (await import('../fork/door.ts')).mergeRecordings(into, others)
}

/** @throws {DevchainError} as `openFork` */
async function openShared(
  settings: ForkSettings,
  { kept, onNotice }: Pick<ForkingOptions, 'kept' | 'onNotice'>,
): Promise<SharedFork> {
  const { openFork } = await import('../fork/door.ts')
  return new SharedFork(await openFork({ ...settings, folder: kept?.folder }, onNotice))
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
  const fork = await openShared(settingsAgain(settings, source, given), { kept, onNotice })
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
  const again = settingsAgain(settings, { ...fork, urls: [] }, settings.fork?.urls ?? [])
  const shared = await openShared(again, { kept, onNotice })
  if (shared.name === fork.name) return shared
  shared.leave()
  const message = `${settings.forkReplay} is a recording of ${shared.name}, and the pack is a fork of ${fork.name}`
  throw invalidParams(message)
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
  const name = Object.keys(given).find((each) => given[each])
  if (name !== undefined) throw invalidParams(`${name} needs --fork URL`)
}

/** @throws {DevchainError} `INVALID_PARAMS` for a timestamp before the fork's block */
function requireLater(timestamp: bigint | undefined, { header }: ForkBase): void {
  if (timestamp === undefined || timestamp >= header.timestamp) return
  const message = `timestamp: expected at least ${header.timestamp}, the time of the forked block ${header.number}, got ${timestamp}`
  throw invalidParams(message)
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
  if (problem !== undefined) throw invalidParams(problem)
}
