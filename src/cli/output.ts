// Standard output and standard error of a command: whoever reads them may be slow, or go away at any moment.
import { write } from 'node:fs'
import { Writable } from 'node:stream'

/** Standard output could not be written to, though somebody may still read it. */
class OutputError extends Error {}

/** What writing fails with once nobody reads any more. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED'])

/**
 * Writes to standard output. Resolves when all is written, as the process ends after it and a pipe may take only so much at
 * once; or when nobody reads any more, who then has read enough.
 * @throws {OutputError} for what `withOutput` reports, such as a full disk
 */
export async function print(text: string): Promise<void> {
  const error = await written(process.stdout, text)
  if (error === undefined || GONE.has(error.code ?? '')) return
  throw new OutputError(`cannot write to standard output: ${error.message}`)
}

/** Writes to standard error. Where that fails nobody is left to tell. */
export async function complain(text: string): Promise<void> {
  await written(process.stderr, text)
}

/** Runs a command to its exit code: 1 where its output could not be written. */
export async function withOutput(run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
    await complain(`devchain: ${error.message}\n`)
    return 1
  }
}

/** Keeps the process running when the readers of its output go away. It makes the streams, which takes a while. */
export function outliveReaders(): void {
  outlive(process.stdout)
  outlive(process.stderr)
}

function outlive(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
}

/** How long a pipe that is full is left alone, in milliseconds. */
const FULL_MS = 10

/**
 * Writes to a descriptor that a child shares, in the background. `process.stderr` would set it not to block, for the child
 * as well, whose writes then fail once a pipe is full.
 */
export function sharedStream(fd: number): Writable {
  const writeAll = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    write(fd, bytes, (error, count) => {
      // another process that shares it has set it so
      if (error?.code === 'EAGAIN') setTimeout(() => writeAll(bytes, done), FULL_MS)
      else if (error !== null || count === bytes.length) done(error)
      else writeAll(bytes.subarray(count), done)
    })
  }
  return new Writable({ write: (chunk: Buffer, _encoding, done) => writeAll(chunk, done) })
}

/** @returns why it could not be written */
function written(stream: Writable, text: string): Promise<NodeJS.ErrnoException | undefined> {
  outlive(stream)
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error ?? undefined))
  })
}
