// Standard output and standard error of commands, whose readers may be slow or disconnect.
import { write } from 'node:fs'
import { Writable } from 'node:stream'
import { DevchainError, invalidParams, readFailure, writeFailure } from '../core/errors.ts'
import { printable } from '../core/format.ts'
import { EXIT } from './parse/subcommands.ts'

/** Ends a command with a message, unless that is empty, and an exit code. */
export class CommandFailure extends Error {
  readonly exitCode: number
  /** Printed after the message. */
  readonly hint: string

  constructor(message: string, exitCode: number, hint = '') {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }

  /** The form of `--json`. */
  get json(): object {
    return { message: this.message }
  }
}

/** Standard output failed although its reader may still be there. */
class OutputError extends CommandFailure {}

/** Error codes after the reader is gone. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED'])

/** True if the reader of a stream is gone. */
export function isGone({ code = '' }: NodeJS.ErrnoException): boolean {
  return GONE.has(code)
}

/**
 * Resolves when all is written, because the process ends then and a pipe takes only so much at once; also when the reader
 * is gone.
 * @throws {OutputError} for what `reported` prints, such as a full disk
 */
export async function print(text: string): Promise<void> {
  const error = await written(process.stdout, text)
  if (error === undefined || isGone(error)) return
  throw new OutputError(`cannot write to standard output: ${error.message}`, EXIT.refused)
}

/** Failures are ignored: they cannot be reported. */
export async function complain(text: string): Promise<void> {
  await written(process.stderr, text)
}

/**
 * Runs a command or a part of one. Prints the text that it returns, or why it failed.
 * @param name of the command, for messages; undefined: there is none
 * @param mistaken the exit code for a `DevchainError`
 * @returns the exit code, or what else `run` returns
 */
export async function reported<T>(
  name: string | undefined,
  isJson: boolean,
  run: () => Promise<T | string>,
  mistaken: number = EXIT.usage,
): Promise<T | number> {
  try {
    const end = await run()
    if (typeof end !== 'string') return end
    await print(end)
    return EXIT.ok
  } catch (error) {
    const failure =
      error instanceof DevchainError ? new CommandFailure(error.message, mistaken) : error
    if (!(failure instanceof CommandFailure)) throw error
    const { message, exitCode, hint, json } = failure
    const who = name === undefined || failure instanceof OutputError ? '' : `${name}: `
    const line = `devchain: ${who}${printable(message).replaceAll('\n', ' ')}${hint}`
    if (message !== '') await complain(`${isJson ? JSON.stringify(json) : line}\n`)
    return exitCode
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

/** @throws {DevchainError} `INVALID_PARAMS` if the file cannot be read */
export function reading<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw invalidParams(`cannot read ${file}: ${readFailure(error)}`)
  }
}

/** @throws {CommandFailure} if the file cannot be written */
export function writing(file: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new CommandFailure(`cannot write ${file}: ${writeFailure(error)}`, EXIT.refused)
  }
}
