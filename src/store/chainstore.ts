// Keeps chains in a file: each change before it is answered, or what changed in the last tenth of a second.
import { rmSync } from 'node:fs'
import { setTimeout as later } from 'node:timers/promises'
import { invalidParams } from '../core/errors.ts'
import { megabytes } from '../core/format.ts'
import { emptyMap } from '../core/persistent.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { ForkBase, ForkSource } from '../node/ledger/upstream.ts'
import type { DevchainSettings } from '../options/derived.ts'
import {
  chainsObject,
  type KeptChain,
  type KeptChains,
  keptChain,
  type StoredChain,
} from './codecs/chains.ts'
import { COPY, copyInTurns, type FileCopy } from './filecopy.ts'
import { type FileCalls, failureIn } from './files.ts'
import { type ChainLog, openLog } from './log.ts'
import { Objects } from './objects.ts'

export interface StoreOptions {
  readonly path: string
  readonly durability: DevchainSettings['durability']
  readonly onNotice: (text: string) => void
  /** Writing fails, or a crash left something unfinished; undefined: `onNotice`. */
  readonly onFailure?: ((text: string) => void) | undefined
  /** Those that are open, by name: states of others cannot be read. */
  readonly forks?: ReadonlyMap<string, ForkBase> | undefined
  /** Undefined: those of the system. */
  readonly files?: FileCalls | undefined
  /** Bytes from which on the file is compacted; undefined: 64 MB. */
  readonly leastCompacted?: number | undefined
  /** Milliseconds of a turn of writing; undefined: 20. */
  readonly turnMs?: number | undefined
  /**
   * Calls `swap` while no chain runs a command; afterwards chains take their states from the store anew.
   * @returns false if a command runs too long to wait for
   */
  readonly hold: (swap: () => void) => Promise<boolean>
}

const LEAST_COMPACTED = 64_000_000

/** Between two attempts to hold all chains. */
const LONGEST_PAUSE_MS = 60_000

const FORK_WITHOUT_URL = '--state keeps forks of URLs, but none of a provider or a recording'

const TURN_MS = 20

/** Milliseconds of changes that are written together. */
const INTERVAL_MS = 100

/**
 * Opens the file of a process's chains, or makes it.
 * @throws {DevchainError} `DAMAGED` for a file that has no chains or is of another version, `INVALID_PARAMS` for one that cannot
 *   be opened; it stays as it is
 */
export function openStore(options: StoreOptions): ChainStore {
  const { path, onNotice, onFailure = onNotice, files } = options
  try {
    rmSync(`${path}${COPY}`, { force: true })
    const { log, position, cut } = openLog(path, files)
    if (cut > 0) onFailure(`${path}: cut off ${cut} bytes that a crash left unfinished`)
    return new ChainStore(options, log, position)
  } catch (error) {
    throw failureIn(path, error, 'INVALID_PARAMS')
  }
}

export class ChainStore {
  readonly path: string
  readonly #options: StoreOptions
  #log: ChainLog
  #objects: Objects
  #chains: KeptChains
  /** As the file has it. */
  #written: KeptChains
  /** Where the file has them; undefined for a new file. */
  #root: number | undefined
  #compaction: Promise<void> | undefined
  readonly #end = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0
  #isFailing = false
  #syncing: Promise<void> = Promise.resolve()

  constructor(options: StoreOptions, log: ChainLog, position: number | undefined) {
    this.path = options.path
    this.#options = options
    this.#log = log
    this.#objects = new Objects(log, options.forks)
    this.#root = position
    this.#chains =
      position === undefined ? { byName: emptyMap() } : this.#objects.read(position, chainsObject)
    this.#written = this.#chains
  }

  names(): readonly string[] {
    return [...this.#chains.byName.entries()].map(([name]) => name)
  }

  at(name: string): KeptChain | undefined {
    return this.#chains.byName.get(name)
  }

  /** The forks that must be open before states are read. */
  forks(): readonly ForkSource[] {
    return [...this.#chains.byName.entries()].flatMap(([, chain]) => forkOf(chain) ?? [])
  }

  forkOf(name: string): ForkSource | undefined {
    const chain = this.at(name)
    return chain && forkOf(chain)
  }

  /** Resolves when the chain is on disk, or returns undefined if it will be in a tenth of a second. */
  keep(name: string, chain: KeptChain): MaybePromise<void> {
    if (chain.state.config.upstream?.source.urls.length === 0) throw invalidParams(FORK_WITHOUT_URL)
    return this.#become(name, chain)
  }

  forget(name: string): MaybePromise<void> {
    return this.#become(name, undefined)
  }

  /** Leaves a chain on disk alone, until it is asked for. */
  rest(name: string): void {
    const chain = this.at(name)
    if (chain === undefined) return
    this.#write()
    const position = this.#objects.known(chain)!
    const resting = keptChain.read(this.#objects.open(position))
    this.#objects.remember(resting, position)
    this.#chains = { byName: this.#chains.byName.set(name, resting) }
  }

  /** Writes what is not written yet, and gives the file up. */
  close(): Promise<void> {
    return this.#finish((log) => log.close())
  }

  /** The same, for another store to go on with the file; states that were read from it stay readable. */
  handOver(): Promise<void> {
    return this.#finish((log) => {
      log.syncNow()
      log.abandon()
    })
  }

  async #finish(leave: (log: ChainLog) => void): Promise<void> {
    this.#end.abort()
    clearTimeout(this.#timer)
    await this.#compaction
    await this.#syncing
    try {
      this.#write()
    } finally {
      leave(this.#log)
    }
  }

  #become(name: string, chain: KeptChain | undefined): MaybePromise<void> {
    const [before, there] = [this.#chains, this.at(name)]
    this.#set(name, chain)
    if (this.#options.durability === 'interval') {
      if (this.#timer === undefined) this.#writeAfter(INTERVAL_MS)
      // commands of this process may keep timers from running
      else if (performance.now() >= this.#dueMs) this.#writeInTime()
      return undefined
    }
    try {
      this.#write()
    } catch (error) {
      this.#chains = before
      throw error
    }
    return this.#sync().catch((error: unknown) => {
      // it is refused, so it must not be there after a restart
      if (this.at(name) === chain) this.#set(name, there)
      this.#write()
      throw error
    })
  }

  #set(name: string, chain: KeptChain | undefined): void {
    const { byName } = this.#chains
    this.#chains = { byName: chain === undefined ? byName.delete(name) : byName.set(name, chain) }
  }

  #writeAfter(ms: number): void {
    this.#dueMs = performance.now() + ms
    this.#timer = setTimeout(() => this.#writeInTime(), ms)
  }

  #writeInTime(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      // a large genesis is written while requests are answered
      if (!this.#write(this.#options.turnMs ?? TURN_MS)) {
        this.#writeAfter(0)
        return
      }
    } catch (error) {
      if (!this.#isFailing) this.#fail(`${(error as Error).message}; trying again`)
      this.#isFailing = true
      this.#writeAfter(10 * INTERVAL_MS)
      return
    }
    this.#isFailing = false
    this.#syncing = this.#sync().catch((error: unknown) => this.#fail((error as Error).message))
  }

  #fail(text: string): void {
    const { onNotice, onFailure = onNotice } = this.#options
    onFailure(text)
  }

  async #sync(): Promise<void> {
    try {
      await this.#log.sync()
    } catch (error) {
      throw failureIn(this.#options.path, error, 'LIMIT_EXCEEDED')
    }
  }

  /** @returns false if it takes longer: then a part of it is written, without an end */
  #write(ms = Infinity): boolean {
    const chains = this.#chains
    if (chains === this.#written) return true
    try {
      const root = this.#objects.writeFor(ms, chains, chainsObject)
      if (root === undefined) return false
      this.#log.end(root)
      this.#objects.settle()
      this.#written = chains
      this.#root = root
    } catch (error) {
      this.#objects.rollBack()
      this.#log.discard()
      throw failureIn(this.#options.path, error, 'LIMIT_EXCEEDED')
    }
    const { leastCompacted = LEAST_COMPACTED } = this.#options
    if (this.#log.size >= Math.max(leastCompacted, 2 * this.#log.look)) {
      this.#compaction ??= this.#compact().finally(() => {
        this.#compaction = undefined
      })
    }
    return true
  }

  /** Frees what nothing refers to any more, if that is half of the file. */
  async #compact(): Promise<void> {
    const { path, onNotice } = this.#options
    const before = this.#log.size
    try {
      const copy = await copyInTurns(path, this.#log, {
        root: () => this.#root!,
        files: this.#options.files,
        signal: this.#end.signal,
      })
      if (copy !== undefined) {
        await this.#swapSoon(copy).finally(copy.discard)
        onNotice(`compacted ${path}: ${megabytes(this.#log.size)}, ${megabytes(before)} before`)
        return
      }
    } catch (error) {
      if (this.#end.signal.aborted) return
      onNotice(`cannot compact ${path}: ${(error as Error).message}`)
    }
    this.#noteLook()
  }

  /** What cannot be written is considered again at the next start. */
  #noteLook(): void {
    try {
      this.#log.noteLook()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
  }

  async #swapSoon(copy: FileCopy): Promise<void> {
    for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await this.#syncing
      if (await this.#options.hold(() => this.#swap(copy))) return
      await later(pauseMs, undefined, { signal: this.#end.signal })
      await copy.catchUp()
    }
  }

  /** All chains are between two commands. */
  #swap(copy: FileCopy): void {
    this.#write()
    const { log, root } = copy.finish()
    this.#log.abandon()
    this.#log = log
    this.#objects = new Objects(log, this.#options.forks)
    this.#root = root
    this.#chains = this.#objects.read(root, chainsObject)
    this.#written = this.#chains
  }
}

/** Read from a file without its state. */
function forkOf(chain: KeptChain | StoredChain): ForkSource | undefined {
  return 'fork' in chain ? chain.fork : chain.state.config.upstream?.source
}
