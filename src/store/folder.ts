// The folder of a process's chains: their files, and the lock of the process that has it.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { attempt, DevchainError, invalidParams, readFailure } from '../core/errors.ts'
import type { StoreOptions } from './chainstore.ts'
import { ChainStores } from './chainstores.ts'
import { failureIn } from './files.ts'

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

/** anvil keeps a dump in the folder that its --state names. */
function requireNoDump(folder: string): void {
  const dump = path.join(folder, 'state.json')
  if (existsSync(chainsIn(folder)) || !existsSync(dump)) return
  const message = `${folder} has a dump and no chain: --state ${dump} goes on with the dump; a chain needs another folder`
  throw invalidParams(message)
}

/** As `mkdir -p`: that of Node 20 never ends where no folder can be made, as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder)
  } catch (error) {
    // another process was faster
    if (!existsSync(folder)) throw error
  }
}

/** Makes the folder if needed. @returns gives it up */
function takeFolder(folder: string): () => void {
  try {
    makeFolder(folder)
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    throw invalidParams(`cannot use the folder ${folder}: ${readFailure(error)}`)
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` if nothing was kept in the folder */
export function requireChains(folder: string): void {
  // an empty file is that of a start that was killed
  const size = statSync(chainsIn(folder), { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) throw noChainIn(folder)
}

export function noChainIn(folder: string): DevchainError {
  return invalidParams(`${folder} has no chain`)
}

/** Bytes of the files of all chains. */
export function sizeOfChains(folder: string): number {
  return filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0)
}

/** The file with the id of the process that has the folder. */
const LOCK = 'lock'

/**
 * @returns gives the folder up
 * @throws {DevchainError} `INVALID_PARAMS` if another process has it
 */
export function lockFolder(folder: string): () => void {
  const file = path.join(folder, LOCK)
  const holder = holderOf(file)
  if (holder !== undefined && isAlive(holder)) {
    const message = `${folder} is in use by process ${holder.pid}; if that is no devchain, delete ${file}`
    throw invalidParams(message)
  }
  if (holder !== undefined) unlinkSync(file)
  // fails if another process was faster
  writeFileSync(file, `${process.pid}\n${startOf(process.pid) ?? ''}\n`, { flag: 'wx' })
  return () => {
    if (holderOf(file)?.pid === process.pid) unlinkSync(file)
  }
}

interface Holder {
  /** NaN stands for a lock that is being written. */
  readonly pid: number
  readonly start: string | undefined
}

/** Undefined if nobody has it. */
function holderOf(file: string): Holder | undefined {
  try {
    const [pid = '', start] = readFileSync(file, 'utf8').split('\n')
    return { pid: Number.parseInt(pid, 10), start: start || undefined }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive({ pid, start }: Holder): boolean {
  if (!Number.isSafeInteger(pid)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return now !== ENDED && (now === undefined || start === undefined || now === start)
}

const ENDED = 'ended'

/** When a process began: an earlier one with its id began at another time. Undefined if the system does not say. */
function startOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // the name before the other fields may have spaces
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' ? ENDED : fields?.[19]
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
