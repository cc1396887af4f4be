// A folder belongs to one process at a time: the one whose id stands in its lock file.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { invalidParams } from '../core/errors.ts'

const NAME = 'lock'

/**
 * @returns gives the folder up
 * @throws {DevchainError} `INVALID_PARAMS` if another process has it
 */
export function lockFolder(folder: string): () => void {
  const file = path.join(folder, NAME)
  const holder = holderOf(file)
  if (holder !== undefined && isAlive(holder)) {
    const message = `${folder} is in use by process ${holder}; if that is no devchain, delete ${file}`
    throw invalidParams(message)
  }
  if (holder !== undefined) unlinkSync(file)
  // fails if another process was faster
  writeFileSync(file, `${process.pid}\n`, { flag: 'wx' })
  return () => {
    if (holderOf(file) === process.pid) unlinkSync(file)
  }
}

/** Undefined if nobody has it; NaN stands for a lock that is being written. */
function holderOf(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
