// Reads artifacts beside the chain. The built program uses a thread (an accelerator: calls continue while megabytes of JSON are
// parsed); otherwise this thread, yielding to other work.
import { on } from 'node:events'
import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Build, type BuildFiles, type BuildOrder, readBuild } from './builds.ts'
import { read } from './read.ts'
import { END, type ReaderNews, type ReadOrder } from './summary.ts'

const PROGRAM = '../reader/reader.cjs'

/** MB for the thread: the largest artifacts take a few times their size. */
const MEMORY_MB = 1_024

export function readBeside(order: ReadOrder): AsyncIterableIterator<ReaderNews> {
  const program = threadProgram()
  return program === undefined ? readInTurns(order) : readInThread(program, order)
}

/** In the background, as it is megabytes of JSON, most of them unused. */
export async function readBuildBeside(build: BuildFiles): Promise<Build> {
  const program = threadProgram()
  if (program === undefined) return readBuild(build)
  for await (const read of readInThread<Build>(program, { build })) return read
  throw new Error(`nothing was read of ${build[0]}`)
}

function threadProgram(): string | undefined {
  const program = fileURLToPath(new URL(PROGRAM, import.meta.url))
  return existsSync(program) ? program : undefined
}

async function* readInTurns(order: ReadOrder): AsyncIterableIterator<ReaderNews> {
  for (const news of read(order)) {
    yield news
    await nextTurn()
  }
}

async function* readInThread<News>(
  program: string,
  order: ReadOrder | BuildOrder,
): AsyncIterableIterator<News> {
  const worker = new Worker(program, {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  worker.unref()
  try {
    for await (const [message] of on(worker, 'message', { close: ['exit'] })) {
      if (message === END) return
      yield message as News
    }
    throw new Error('the reader of artifacts ended too early')
  } finally {
    await worker.terminate()
  }
}
