// Standard output and standard error of commands, whose readers may be slow or disconnect.
import { renameSync, rmSync, write, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { DevchainError, writeFailure } from '../core/errors.ts'

/** Standard output failed although its reader may still be there. */
class OutputError extends Error {}

/** Error codes after the reader is gone. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED'])

/**
 * Resolves when all is written, because the process ends then and a pipe takes only so much at once; also when the reader
 * is
 * gone.
 * @throws {OutputError} for what `withOutput` reports, such as a full disk
 */
export async function print(text: string): Promise<void> {
  const error = await written(process.stdout, text)
  if (error === undefined || GONE.has(error.code ?? '')) return
  throw new OutputError(`cannot write to standard output: ${error.message}`)
}

/** Failures are ignored: they cannot be reported. */
export async function complain(text: string): Promise<void> {
  await written(process.stderr, text)
}

/** @returns the command's exit code, or 1 if its output could not be written */
export async function withOutput(run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
    await complain(`devchain: ${error.message}\n`)
    return 1
  }
}

/** Keeps the process running when readers disconnect. It makes the streams, which takes a while. */
export function outliveReaders(): void {
  outlive(process.stdout)
  outlive(process.stderr)
}

function outlive(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
}

/** Milliseconds before a full pipe is retried. */
const FULL_MS = 10

/**
 * Writes in the background to a descriptor shared with a child. `process.stderr` would make it non-blocking for the child
 * too, whose writes would fail on a full pipe.
 */
export function sharedStream(fd: number): Writable {
  const writeAll = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    write(fd, bytes, (error, count) => {
      // another process that shares it made it non-blocking
      if (error?.code === 'EAGAIN') setTimeout(() => writeAll(bytes, done), FULL_MS)
      else if (error !== null || count === bytes.length) done(error)
      else writeAll(bytes.subarray(count), done)
    })
  }
  return new Writable({ write: (chunk: Buffer, _encoding, done) => writeAll(chunk, done) })
}

/** @returns the write error, if any */
function written(stream: Writable, text: string): Promise<NodeJS.ErrnoException | undefined> {
  outlive(stream)
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error ?? undefined))
  })
}

/**
 * Readers never see a partial file. Only the user may read it, because it may have keys; an existing file under either
 * name may belong to somebody else.
 * @throws node's error if it cannot be written
 */
export function replaceFile(file: string, content: Uint8Array | string): void {
  const beside = `${file}.${process.pid}.tmp`
  try {
    rmSync(beside, { force: true })
    writeFileSync(beside, content, { mode: 0o600, flag: 'wx' })
    renameSync(beside, file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` if the file cannot be written */
export function writing(file: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new DevchainError('INVALID_PARAMS', `cannot write ${file}: ${writeFailure(error)}`)
  }
}
