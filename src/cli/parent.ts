// Notices the end of the parent process.
import { fstatSync, readFileSync } from 'node:fs'
import { attempt } from '../core/errors.ts'

/** Milliseconds between checks of the parent's process id. */
const LOOK_MS = 250

/**
 * Calls `onGone` once when the parent has ended: its id changes, or (if stdin is a pipe, as in most test runners) the pipe
 * closes. Under npm and npx a shell stands between and outlives a killed npm, so its parent is checked
 * too, where the system shows it (Linux).
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
  // a closed stdin says nothing about the parent
  const stdin = attempt(() => fstatSync(0))
  if (stdin?.isFIFO() || stdin?.isSocket()) {
    process.stdin.on('end', gone)
    process.stdin.on('error', gone)
    process.stdin.resume()
  }
  return stop
}

/** Undefined if the system does not show it. */
function parentOf(pid: number): number | undefined {
  // no such process, or not Linux
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? ''
  // the name, in brackets, may contain anything
  const [, parent] = /\) \S (\d+) [^)]*$/.exec(stat) ?? []
  return parent === undefined ? undefined : Number(parent)
}
