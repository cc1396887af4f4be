// Forks of chains on disk (--state): what they fetched is in the same folder, so they go on without the network.
import path from 'node:path'
import type { OpenFork } from '../../node/chainoptions.ts'
import type { ForkSource } from '../../node/ledger/upstream.ts'
import type { ChainStores } from '../../store/chainstores.ts'

/** A fork that chains have in common: the last one closes it. */
export class SharedFork {
  readonly fork: OpenFork
  users = 1

  constructor(fork: OpenFork) {
    this.fork = fork
  }

  get name(): string {
    return this.fork.base.upstream.source.name
  }

  join(): this {
    this.users += 1
    return this
  }

  leave(): void {
    this.users -= 1
    if (this.users === 0) this.fork.close()
  }
}

export class KeptForks {
  /** Where forks keep what they fetch. */
  readonly folder: string
  readonly #store: ChainStores
  readonly #held = new Map<string, SharedFork>()

  constructor(folder: string, store: ChainStores) {
    this.folder = path.join(folder, 'forks')
    this.#store = store
  }

  at(name: string): SharedFork | undefined {
    return this.#held.get(name)
  }

  /** Stays open while a chain on disk is a fork of it, also one that is not in memory. */
  add(fork: SharedFork): void {
    const { name } = fork
    const named = new Set(this.#store.forks().map((source) => source.name))
    for (const [other, held] of this.#held) {
      // a chain may be about to begin with it
      const isUnused = held.users === 1 && !named.has(other)
      if (isUnused || other === name) this.#drop(other, held)
    }
    this.#held.set(name, fork.join())
    this.#store.addFork(fork.fork.base)
  }

  /** Of chains on disk, once each, as far as they are not open. */
  missing(): readonly ForkSource[] {
    const sources = new Map(this.#store.forks().map((source) => [source.name, source]))
    return [...sources.values()].filter(({ name }) => !this.#held.has(name))
  }

  close(): void {
    for (const [name, held] of this.#held) this.#drop(name, held)
  }

  #drop(name: string, held: SharedFork): void {
    this.#held.delete(name)
    this.#store.dropFork(name)
    held.leave()
  }
}
