// The folder of a process's chains: their files, and the lock of the process that has it.
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import {
  attempt,
  DevchainError,
  invalidParams,
  limitExceeded,
  writeFailure,
} from '../core/errors.ts'
import { makeFolder } from '../loader/cachefolder.ts'
import { CorruptStore } from './bytes.ts'
import type { StoreOptions } from './chainstore.ts'
import { ChainStores } from './chainstores.ts'
import { failureIn } from './files.ts'
import { lockFolder } from './lock.ts'

export interface ChainFolder {
  readonly stores: ChainStores
  readonly close: () => Promise<void>
}

const FILE = 'chains'

/** Of a file with one chain, behind the name of the one that most share. */
const NUMBERED = /^chains\.(\d+)$/

function chainsIn(folder: string): string {
  return path.join(folder, FILE)
}

/** The numbers of the files with one chain, the oldest first. */
function numbersIn(folder: string): readonly number[] {
  const numbers = readdirSync(folder).flatMap((name) => NUMBERED.exec(name)?.[1] ?? [])
  return numbers.map(Number).sort((a, b) => a - b)
}

function filesIn(folder: string): readonly string[] {
  const file = chainsIn(folder)
  return [file, ...numbersIn(folder).map((number) => `${file}.${number}`)]
}

/** @throws {DevchainError} `INVALID_PARAMS` for a folder that another process has, or that cannot be read or written */
export async function openFolder(
  folder: string,
  options: Omit<StoreOptions, 'path'>,
): Promise<ChainFolder> {
  requireNoDump(folder)
  requireFirst(folder)
  const unlock = takeFolder(folder)
  try {
    const stores = new ChainStores(options, chainsIn(folder))
    try {
      for (const number of numbersIn(folder)) await stores.find(number)
    } catch (error) {
      await stores.close()
      throw error
    }
    return { stores, close: () => stores.close().finally(unlock) }
  } catch (error) {
    unlock()
    throw error
  }
}

/** An empty file is that of a start that was killed. */
function hasChains(folder: string): boolean {
  return (statSync(chainsIn(folder), { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Files with one chain come after the first. */
function requireFirst(folder: string): void {
  if (hasChains(folder)) return
  const [number] = attempt(() => numbersIn(folder)) ?? []
  if (number === undefined) return
  const file = chainsIn(folder)
  const message = `${file} is empty or missing, but ${file}.${number} has a chain: the default chain is lost; restore the file, or use another folder`
  throw new CorruptStore(message)
}

/** anvil keeps a dump in the folder that its --state names. */
function requireNoDump(folder: string): void {
  const dump = path.join(folder, 'state.json')
  if (hasChains(folder) || !existsSync(dump)) return
  const message = `${folder} has a dump and no chain: --state ${dump} goes on with the dump; a chain needs another folder`
  throw invalidParams(message)
}

/** Makes the folder if needed. @returns gives it up */
function takeFolder(folder: string): () => void {
  try {
    makeFolder(folder)
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    throw limitExceeded(`cannot use the folder ${folder}: ${writeFailure(error)}`)
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` if nothing was kept in the folder */
export function requireChains(folder: string): void {
  requireFirst(folder)
  if (!hasChains(folder)) throw noChainIn(folder)
}

export function noChainIn(folder: string): DevchainError {
  return invalidParams(`${folder} has no chain`)
}

/** Bytes of the files of all chains. */
export function sizeOfChains(folder: string): number {
  return filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0)
}

/** Work on each file of a folder that no process has. @throws {DevchainError} `INVALID_PARAMS` if there is none */
export function withFiles<T>(folder: string, work: (file: string) => T): readonly T[] {
  requireChains(folder)
  const unlock = takeFolder(folder)
  try {
    return filesIn(folder).map(work)
  } catch (error) {
    throw failureIn(folder, error, 'LIMIT_EXCEEDED')
  } finally {
    unlock()
  }
}
