// Notices that the process which started this one is gone.
import { fstatSync, readFileSync } from 'node:fs'

/** How often the parent's process id is looked at. */
const LOOK_MS = 250

/**
 * Calls `onGone` once when the parent process has ended: its id is no longer ours to see as parent, or (where stdin
 * is a pipe, as for children of most test runners) the pipe was closed. Under npm and npx a shell stands between, which
 * outlives an npm that is killed: its parent counts as well, where the system tells it (Linux).
 * @returns stops watching
 */
export function watchParent(onGone: () => void): () => void {
  const parent = process.ppid
  const isNpm = process.env.npm_command !== undefined
  const npm = isNpm ? parentOf(parent) : undefined
  const timer = setInterval(() => {
    if (process.ppid !== parent || (npm !== undefined && parentOf(parent) !== npm)) gone()
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

/** The parent of a process; undefined where the system does not tell. */
function parentOf(pid: number): number | undefined {
  try {
    // the name, in brackets, may have anything in it
    const [, parent] = /\) \S (\d+) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return parent === undefined ? undefined : Number(parent)
  } catch {
    // no such process, or no such system
    return undefined
  }
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
