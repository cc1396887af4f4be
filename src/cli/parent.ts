// Notices that the process which started this one is gone.
import { fstatSync } from 'node:fs'

/** How often the parent's process id is looked at. */
const LOOK_MS = 250

/**
 * Calls `onGone` once when the parent process has ended: its id is no longer ours to see as parent, or (where stdin
 * is a pipe, as for children of most test runners) the pipe was closed.
 * @returns stops watching
 */
export function watchParent(onGone: () => void): () => void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone()
  }, LOOK_MS)
  timer.unref()
  const stop = (): void => {
    clearInterval(timer)
    process.stdin.off('end', gone)
  }
  const gone = (): void => {
    stop()
    onGone()
  }
  if (isPipe(0)) {
    process.stdin.on('end', gone)
    process.stdin.on('error', gone)
    process.stdin.resume()
  }
  return stop
}

function isPipe(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isFIFO() || stats.isSocket()
  } catch {
    // A closed stdin tells nothing about the parent.
    return false
  }
}
