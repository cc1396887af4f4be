// Keeps a chain in a file: each change before it is answered, or what changed in the last tenth of a second.
import { DevchainError } from '../core/errors.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { StateChange } from '../node/ledger/change.ts'
import { stateObject } from './codecs/states.ts'
import { forkRefused } from './codecs/worlds.ts'
import { type ChainLog, openLog } from './log.ts'
import { type Medium, Objects } from './objects.ts'

export type Durability = 'block' | 'interval'

export interface StoreOptions {
  readonly path: string
  readonly durability: Durability
  readonly onNotice: (text: string) => void
}

/** Milliseconds of changes that are written together. */
const INTERVAL_MS = 100

/**
 * Opens the file of a chain, or makes it.
 * @throws {DevchainError} `DAMAGED` for a file that is no chain or of another version, `INVALID_PARAMS` for one that cannot be
 *   opened; it stays as it is
 */
export function openStore(options: StoreOptions): ChainStore {
  const { path, onNotice } = options
  try {
    const { log, position, cut } = openLog(path)
    if (cut > 0) onNotice(`${path}: cut off ${cut} bytes that a crash left unfinished`)
    return new ChainStore(options, log, position)
  } catch (error) {
    throw failureIn(path, error, 'INVALID_PARAMS')
  }
}

export class ChainStore {
  /** The state that the file had; undefined for a new file. */
  readonly state: ChainState | undefined
  readonly #options: StoreOptions
  readonly #log: ChainLog
  #objects: Objects
  /** Not written yet. */
  #newest: ChainState | undefined
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #syncing: Promise<void> = Promise.resolve()

  constructor(options: StoreOptions, log: ChainLog, position: number | undefined) {
    this.#options = options
    this.#log = log
    this.#objects = new Objects(log)
    this.state = position === undefined ? undefined : this.#objects.read(position, stateObject)
  }

  /** The commit of the chain. */
  readonly commit = ({ after }: StateChange): Promise<void> | undefined => {
    if (after.config.upstream !== undefined) throw forkRefused()
    this.#newest = after
    if (this.#options.durability === 'block') {
      this.#write()
      return this.#sync()
    }
    this.#timer ??= setTimeout(() => this.#writeInTime(), INTERVAL_MS)
    return undefined
  }

  /** Writes the first state of a new chain. */
  begin(state: ChainState): Promise<void> {
    this.#newest = state
    this.#write()
    return this.#sync()
  }

  /** Writes the state that the file had with all that it refers to elsewhere; returns its position there. */
  copyTo(medium: Medium): number {
    if (this.state === undefined) throw new Error('there is no state')
    return new Objects(medium, this.#objects).write(this.state, stateObject)
  }

  /** Writes what is not written yet, and gives the file up. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#syncing
    try {
      this.#write()
    } finally {
      this.#log.close()
    }
  }

  #writeInTime(): void {
    this.#timer = undefined
    try {
      this.#write()
    } catch (error) {
      if (!this.#isFailing) this.#options.onNotice(`${(error as Error).message}; trying again`)
      this.#isFailing = true
      this.#timer = setTimeout(() => this.#writeInTime(), 10 * INTERVAL_MS)
      return
    }
    this.#isFailing = false
    this.#syncing = this.#sync().catch((error: unknown) => {
      this.#options.onNotice((error as Error).message)
    })
  }

  async #sync(): Promise<void> {
    try {
      await this.#log.sync()
    } catch (error) {
      throw failureIn(this.#options.path, error, 'LIMIT_EXCEEDED')
    }
  }

  #write(): void {
    const state = this.#newest
    if (state === undefined) return
    try {
      this.#log.end(this.#objects.write(state, stateObject))
      this.#newest = undefined
    } catch (error) {
      // positions of what is not there must not be referred to
      this.#objects = new Objects(this.#log)
      this.#log.discard()
      throw failureIn(this.#options.path, error, 'LIMIT_EXCEEDED')
    }
  }
}

/** Errors of the file system, in words; others are bugs. */
function failureIn(
  path: string,
  error: unknown,
  word: 'INVALID_PARAMS' | 'LIMIT_EXCEEDED',
): unknown {
  if ((error as NodeJS.ErrnoException).code === undefined) return error
  return new DevchainError(word, `${path}: ${(error as Error).message}`)
}
