// The program of a thread that runs chains (--threads).
import { parentPort, workerData } from 'node:worker_threads'
import type { Observer } from '../app/observer.ts'
import type { ThreadOrder, ThreadPort } from '../app/threads/messages.ts'
import { Logger, LogTotals } from './log/logger.ts'
import { loadPalette } from './log/palette.ts'
import { type LogOrder, rendererOf } from './start.ts'

/** Lines go to the main thread, which has the terminal: here they fold as in a file. */
async function logOf(
  { settings, isColored, totals }: LogOrder,
  write: (text: string) => void,
): Promise<Observer> {
  const renderer = rendererOf(settings, await loadPalette(isColored))
  const shared = { totals: new LogTotals(totals) }
  return new Logger({ renderer, writer: { write }, settings, shared })
}

export async function runThread(): Promise<void> {
  // chains without threads do without it
  const { Host } = await import('../app/threads/host.ts')
  const { log, folder, isPlain = false, leastCompacted } = workerData as ThreadOrder
  const port: ThreadPort = parentPort!
  const write = (text: string): void =>
    port.postMessage({ kind: 'call', name: 'log', values: [text] })
  const observer = log === undefined ? {} : await logOf(log as LogOrder, write)
  new Host(port, workerData as ThreadOrder, { observer, folder, isPlain, leastCompacted })
}
