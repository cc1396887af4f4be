// Files that several processes write: one at a time, as a file beside says that somebody is at it, and at once.
import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

const LOOK_MS = 5

/** Milliseconds after which whoever holds it was killed: what is done meanwhile takes a fraction. */
const DEAD_MS = 5_000

/** Milliseconds after which nobody waits any more: others take their turn all the time, or the lock cannot be removed. */
const PATIENCE_MS = 30_000

/**
 * Does what reads a file and writes it anew, while no other process does. The file's folder is there.
 * @throws node's error where there can be no lock, and an error where it is held for too long
 */
export function whileLocked(file: string, work: () => void): void {
  const lock = `${file}.lock`
  take(lock)
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): void {
  const end = performance.now() + PATIENCE_MS
  while (performance.now() < end) {
    try {
      closeSync(openSync(lock, 'wx'))
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    // of a time to come nothing can be said: clocks of file systems differ
    if (Math.abs(Date.now() - mtimeMs) > DEAD_MS) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
  throw new Error(`${lock} is held by other processes all the time`)
}

/** Puts a text in the place of a file's, at once. */
export function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, text)
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
