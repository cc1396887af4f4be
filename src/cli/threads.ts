// The priority of the threads that work beside the one that answers.
import { readdirSync } from 'node:fs'

/**
 * Steps of `nice`: where all processors are busy, they get a third of what others get. With 10 they get a tenth, and sends
 * take 1.6 times as long there.
 */
const STEPS_BACK = 5

/** The lowest priority there is. */
const LOWEST = 19

/**
 * Has the threads that exist beside the one that answers, V8's that optimize and collect, come after it and after clients.
 * Two processors suffice for a client that waits for each reply and for who replies, but a thread that optimizes beside them
 * made each wait until its slice of time was over: the first 1,200 evm_mines 9,400 to 13,200 a second, three sends between
 * snapshot and revert 2.3 to 1.8 ms (Node 20; with 24 the same before and after). Clients side by side need optimized code
 * sooner instead: eth_call over eight connections is a fifth slower with it. On Linux only, where threads have priorities
 * of their own.
 */
export function standBack(): void {
  const { getPriority, setPriority } = process.getBuiltinModule('node:os')
  const priority = Math.min(getPriority() + STEPS_BACK, LOWEST)
  for (const id of otherThreads()) {
    try {
      setPriority(id, priority)
    } catch {
      // it has just ended, or has no priority of its own: the first calls take longer, and that is all
    }
  }
}

function otherThreads(): readonly number[] {
  if (process.platform !== 'linux') return []
  try {
    const ids = readdirSync('/proc/self/task').map(Number)
    // where the files are those of another machine's view, its numbers are not ours
    return ids.includes(process.pid) ? ids.filter((id) => id !== process.pid) : []
  } catch {
    return []
  }
}
