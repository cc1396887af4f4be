// The folder of a chain: its file, what it began with, and the lock of the process that has it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevchainError, readFailure } from '../core/errors.ts'
import { type ChainStore, openStore, type StoreOptions } from './chainstore.ts'
import { lockFolder } from './lock.ts'

/** What a chain began with, as far as its state does not say. */
export interface KeptOrigin {
  /** SHA-256 of the genesis file. */
  readonly genesis?: string | undefined
  readonly compat?: string | undefined
}

export interface ChainFolder {
  readonly store: ChainStore
  /** Undefined for a new folder. */
  readonly origin: KeptOrigin | undefined
  /** To be called before the first state is written. */
  readonly begin: (origin: KeptOrigin) => void
  /** `last` runs when the file is closed and nobody else can open it. */
  readonly close: (last?: () => void) => Promise<void>
}

export const CHAIN = 'default.chain'
const ORIGIN = 'default.json'

/** @throws {DevchainError} `INVALID_PARAMS` for a folder that another process has, or that cannot be read or written */
export function openFolder(folder: string, options: Omit<StoreOptions, 'path'>): ChainFolder {
  const unlock = within(folder, () => {
    mkdirSync(folder, { recursive: true })
    return lockFolder(folder)
  })
  try {
    const store = openStore({ ...options, path: path.join(folder, CHAIN) })
    const file = path.join(folder, ORIGIN)
    return {
      store,
      origin: store.state && within(folder, () => JSON.parse(readFileSync(file, 'utf8'))),
      begin: (origin) => within(folder, () => writeFileSync(file, `${JSON.stringify(origin)}\n`)),
      close: (last) => store.close().then(last).finally(unlock),
    }
  } catch (error) {
    unlock()
    throw error
  }
}

function within<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof DevchainError) throw error
    throw new DevchainError(
      'INVALID_PARAMS',
      `cannot use the folder ${folder}: ${readFailure(error)}`,
    )
  }
}
