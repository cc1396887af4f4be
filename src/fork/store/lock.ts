// Locks for files that several processes write.
import { closeSync, openSync, rmSync, statSync } from 'node:fs'

const LOOK_MS = 5

/** Milliseconds after which the lock's holder must be dead: the work takes a fraction. */
const DEAD_MS = 5_000

/** Milliseconds to wait for the lock. */
const TIMEOUT_MS = 30_000

/** @throws Node's error if no lock can be made, and an error after the timeout */
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
  const end = performance.now() + TIMEOUT_MS
  while (performance.now() < end) {
    try {
      closeSync(openSync(lock, 'wx'))
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    // an mtime in the future counts too, as clocks of file systems differ
    if (Math.abs(Date.now() - mtimeMs) > DEAD_MS) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
  throw new Error(`${lock} is held by other processes`)
}
