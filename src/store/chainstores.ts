// The files of a process's chains: one that most share, and one for each chain that runs in a thread, which alone writes it.
import { rmSync } from 'node:fs'
import type { MaybePromise } from '../core/promises.ts'
import type { ForkBase, ForkSource } from '../node/ledger/upstream.ts'
import { type ChainStore, openStore, type StoreOptions } from './chainstore.ts'
import type { KeptChain } from './codecs/chains.ts'

interface OwnFile {
  readonly path: string
  /** Undefined while a thread has it. */
  store: ChainStore | undefined
  /** Until a thread has given it back. */
  away: Promise<void> | undefined
}

/** A file that a thread may have. */
export interface LentFile {
  readonly path: string
  /**
   * To be called when the thread has closed it. If the chain was dropped, or was never written, the file is deleted.
   * @param prepare called before the chain can be read here: opens its fork
   */
  readonly giveBack: (prepare: () => Promise<void>) => Promise<void>
}

export class ChainStores {
  readonly #options: Omit<StoreOptions, 'path'>
  readonly #shared: ChainStore | undefined
  /** By chain. */
  readonly #own = new Map<string, OwnFile>()
  readonly #forks = new Map<string, ForkBase>()
  /** Of files with one chain, behind the name of the shared one. */
  #lastNumber = 0

  /** @param path of the file that most chains share; undefined in a thread, whose chains have a file each */
  constructor(options: Omit<StoreOptions, 'path'>, path?: string) {
    this.#options = options
    this.#shared = path === undefined ? undefined : this.#opened(path)
  }

  names(): readonly string[] {
    return [...new Set([...(this.#shared?.names() ?? []), ...this.#own.keys()])]
  }

  /** Undefined if there is none, or while a thread has it. */
  at(name: string): KeptChain | undefined {
    const own = this.#own.get(name)
    if (own === undefined) return this.#shared?.at(name)
    return own.away === undefined ? own.store?.at(name) : undefined
  }

  /** It is in the file that most chains share, so no thread can have it. */
  isShared(name: string): boolean {
    return !this.#own.has(name) && this.#shared?.at(name) !== undefined
  }

  /** The forks that must be open before states are read. */
  forks(): readonly ForkSource[] {
    return this.#stores().flatMap((store) => store.forks())
  }

  forkOf(name: string): ForkSource | undefined {
    return this.#own.get(name)?.store?.forkOf(name) ?? this.#shared?.forkOf(name)
  }

  addFork(fork: ForkBase): void {
    this.#forks.set(fork.upstream.source.name, fork)
  }

  dropFork(name: string): void {
    this.#forks.delete(name)
  }

  /** As of `ChainStore`. */
  keep(name: string, chain: KeptChain): MaybePromise<void> {
    const store = this.#storeOf(name)
    if (store === undefined) throw new Error(`the chain ${name} has no file in this thread`)
    return store.keep(name, chain)
  }

  /** A file that a thread has is deleted when it is given back. */
  forget(name: string): MaybePromise<void> {
    const own = this.#own.get(name)
    if (own === undefined) return this.#shared?.forget(name)
    this.#own.delete(name)
    return own.away === undefined ? discard(own) : undefined
  }

  /** As of `ChainStore`. */
  rest(name: string): void {
    if (this.at(name) !== undefined) this.#storeOf(name)?.rest(name)
  }

  /** Opens the file of a chain; one that has no chain yet gets this one. */
  open(name: string, path: string): void {
    this.#own.set(name, { path, store: this.#opened(path), away: undefined })
  }

  /** Opens a file that a process before this one left, the oldest first. Of two with one chain, the later one counts. */
  async find(number: number): Promise<void> {
    this.#lastNumber = number
    const path = this.#numbered(number)
    const store = this.#opened(path)
    const file = { path, store, away: undefined }
    const [name] = store.names()
    if (name === undefined) return discard(file)
    const older = this.#own.get(name)
    this.#own.set(name, file)
    if (older !== undefined) await discard(older)
    if (this.#shared?.at(name) !== undefined) await this.#shared.forget(name)
  }

  /** Gives the file of a chain away, or a new one. States that were read from it stay readable. */
  async lend(name: string): Promise<LentFile> {
    for (let known = this.#own.get(name); known?.away !== undefined; ) {
      await known.away
      known = this.#own.get(name)
    }
    let settle = (): void => undefined
    const away = new Promise<void>((resolve) => {
      settle = resolve
    })
    const own: OwnFile = this.#own.get(name) ?? this.#newFile()
    own.away = away
    this.#own.set(name, own)
    await own.store?.handOver()
    own.store = undefined
    const giveBack: LentFile['giveBack'] = async (prepare) => {
      try {
        await this.#takeBack(name, own, prepare)
      } catch (error) {
        if (this.#own.get(name) === own) this.#own.delete(name)
        const { onNotice, onFailure = onNotice } = this.#options
        onFailure((error as Error).message)
      } finally {
        own.away = undefined
        settle()
      }
    }
    return { path: own.path, giveBack }
  }

  #newFile(): OwnFile {
    this.#lastNumber += 1
    return { path: this.#numbered(this.#lastNumber), store: undefined, away: undefined }
  }

  #numbered(number: number): string {
    return `${this.#shared?.path}.${number}`
  }

  async #takeBack(name: string, own: OwnFile, prepare: () => Promise<void>): Promise<void> {
    own.store = this.#opened(own.path)
    const isDropped = this.#own.get(name) !== own
    if (!isDropped && own.store.at(name) !== undefined) return prepare()
    if (!isDropped) this.#own.delete(name)
    await discard(own)
  }

  /** Closes the file of a chain, for others to open. */
  async release(name: string): Promise<void> {
    const own = this.#own.get(name)
    this.#own.delete(name)
    await own?.store?.close()
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores().map((store) => store.close()))
  }

  #opened(path: string): ChainStore {
    return openStore({ ...this.#options, forks: this.#forks, path })
  }

  #storeOf(name: string): ChainStore | undefined {
    const own = this.#own.get(name)
    return own === undefined ? this.#shared : own.store
  }

  #stores(): readonly ChainStore[] {
    const own = [...this.#own.values()].flatMap(({ store }) => store ?? [])
    return this.#shared === undefined ? own : [this.#shared, ...own]
  }
}

async function discard({ store, path }: OwnFile): Promise<void> {
  await store?.close()
  rmSync(path, { force: true })
}
