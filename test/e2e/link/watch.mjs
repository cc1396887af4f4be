// Watches the process that it is imported into (node --import): writes how long its loop was held, and how much memory
// it has, to the file that WATCH_FILE names. Counted is the time that the main thread worked, so that what else the
// machine does adds nothing.
import { appendFileSync, openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const TURN_MS = 2
const TURNS_PER_LINE = 10

/** Milliseconds that the main thread has run so far. */
function worker() {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const bytes = Buffer.alloc(64)
  return () => Number(bytes.latin1Slice(0, readSync(file, bytes, 0, 64, 0)).split(' ')[0]) / 1e6
}

function watch(path) {
  const worked = worker()
  let last = worked()
  let heldMs = 0
  let turns = 0
  const look = () => {
    heldMs = Math.max(heldMs, worked() - last)
    turns += 1
    if (turns % TURNS_PER_LINE === 0) {
      const line = { heldMs, bytes: process.memoryUsage.rss() }
      appendFileSync(path, `${JSON.stringify(line)}\n`)
      heldMs = 0
    }
    last = worked()
  }
  setInterval(look, TURN_MS).unref()
}

if (isMainThread && process.env.WATCH_FILE) watch(process.env.WATCH_FILE)
