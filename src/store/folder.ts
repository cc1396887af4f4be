// The folder of a process's chains: their file, and the lock of the process that has it.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { DevchainError, readFailure } from '../core/errors.ts'
import { type ChainStore, openStore, type StoreOptions } from './chainstore.ts'
import { lockFolder } from './lock.ts'

export interface ChainFolder {
  readonly store: ChainStore
  readonly close: () => Promise<void>
}

const FILE = 'chains'

function chainsIn(folder: string): string {
  return path.join(folder, FILE)
}

/** @throws {DevchainError} `INVALID_PARAMS` for a folder that another process has, or that cannot be read or written */
export function openFolder(folder: string, options: Omit<StoreOptions, 'path'>): ChainFolder {
  requireNoDump(folder)
  const unlock = takeFolder(folder)
  try {
    const store = openStore({ ...options, path: chainsIn(folder) })
    return { store, close: () => store.close().finally(unlock) }
  } catch (error) {
    unlock()
    throw error
  }
}

/** anvil keeps a dump in the folder that its --state names. */
function requireNoDump(folder: string): void {
  const dump = path.join(folder, 'state.json')
  if (existsSync(chainsIn(folder)) || !existsSync(dump)) return
  const message = `${folder} has a dump and no chain: --state ${dump} goes on with the dump; a chain needs another folder`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** Makes the folder if needed. @returns gives it up */
function takeFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true })
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    const message = `cannot use the folder ${folder}: ${readFailure(error)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` if nothing was kept in the folder */
export function requireChains(folder: string): void {
  if (existsSync(chainsIn(folder))) return
  throw new DevchainError('INVALID_PARAMS', `${folder} has no chain`)
}

/** Bytes of the file of all chains. */
export function sizeOfChains(folder: string): number {
  return statSync(chainsIn(folder)).size
}

/** Work on the file of a folder that no process has. @throws {DevchainError} `INVALID_PARAMS` if there is none */
export function withFile<T>(folder: string, work: (file: string) => T): T {
  requireChains(folder)
  const unlock = takeFolder(folder)
  try {
    return work(chainsIn(folder))
  } finally {
    unlock()
  }
}
