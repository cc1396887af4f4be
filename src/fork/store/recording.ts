// Writes recordings while a fork runs, and merges those of the same fork, e.g. from git branches.
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { makeFolder, replaceFile } from '../../loader/cachefolder.ts'
import {
  addRecording,
  differenceOf,
  type ForkRecording,
  type Lines,
  lineOf,
  type RecordingHead,
  readRecording,
  recordingIn,
  textIn,
  textOfRecording,
} from './recordingfile.ts'
import { type Store, textOfKey } from './store.ts'

/** Milliseconds until items are on disk, in case the process is killed. */
const SOON_MS = 300

/**
 * Keeps what the file has of the same fork, so that several runs can fill it at once.
 * @param onNotice warns about a file that is begun anew or is no longer writable
 * @throws {DevchainError} `INVALID_PARAMS` for a file that is not writable, is no recording, or differs in proofs
 */
export function recordTo(
  file: string,
  head: RecordingHead,
  onNotice: (text: string) => void,
): Store {
  const lines: Lines = new Map()
  let timer: NodeJS.Timeout | undefined
  let isWritten = false
  let written: string | undefined
  let warned: string | undefined
  const addFrom = (text: string): void => {
    if (text === '') return
    const there = recordingIn(text, file)
    const difference = differenceOf(there.head, head)
    if (difference === 'proofs') throw otherProofs(file, there.head)
    if (difference === 'fork') {
      onNotice(`${file} was a recording of another block, and starts over`)
      return
    }
    for (const [name, line] of there.lines) {
      if (!lines.has(name)) lines.set(name, line)
    }
  }
  const write = (): void => {
    exclusively(file, () => {
      const there = textIn(file)
      if (there !== written) addFrom(there ?? '')
      written = textOfRecording({ head, lines })
      if (there !== written) replaceFile(file, written, 0o666)
    })
    isWritten = true
  }
  const writeLater = (): void => {
    clearTimeout(timer)
    timer = undefined
    try {
      write()
    } catch (error) {
      const { message } = error as Error
      if (message !== warned) onNotice(`cannot record: ${message}`)
      warned = message
    }
  }
  // report a failure before any work
  write()
  return {
    get: () => undefined,
    put: (key, value) => {
      lines.set(textOfKey(key), lineOf(key, value))
      isWritten = false
      timer ??= setTimeout(writeLater, SOON_MS).unref()
    },
    flush: () => {
      if (!isWritten) writeLater()
    },
  }
}

function exclusively(file: string, work: () => void): void {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw new Error('it is no file')
    makeFolder(path.dirname(path.resolve(file)))
    whileLocked(file, work)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    throw invalidParams(`cannot write the recorded fork ${file}: ${(error as Error).message}`)
  }
}

function otherProofs(file: string, { proofs }: RecordingHead): DevchainError {
  const [how, flag] = proofs ? ['with', 'add'] : ['without', 'leave out']
  const message = `${file} was recorded ${how} --fork-proofs: ${flag} it, or delete the file to record again`
  return invalidParams(message)
}

export interface Merged {
  readonly items: number
  readonly added: number
}

/**
 * Sorts the lines. A missing file starts as the first recording.
 * @throws {DevchainError} `INVALID_PARAMS` for recordings of different forks or with different values; then the file
 * stays as it was
 */
export function mergeRecordings(into: string, others: readonly string[]): Merged {
  const read = others.map((file) => ({ file, recording: readRecording(file) }))
  let merged: Merged = { items: 0, added: 0 }
  exclusively(into, () => {
    const whole = beginningOf(into, read[0]?.recording)
    const before = whole.lines.size
    for (const { file, recording } of read) {
      if (differenceOf(whole.head, recording.head) !== undefined) {
        const message = `${file} is of another fork than ${into}: only recordings of the same network and block, all with or all without --fork-proofs, can be merged`
        throw invalidParams(message)
      }
      addRecording(whole, recording, `${file} contradicts ${into}`)
    }
    merged = { items: whole.lines.size, added: whole.lines.size - before }
    replaceFile(into, textOfRecording(whole), 0o666)
  })
  return merged
}

function beginningOf(file: string, first: ForkRecording | undefined): ForkRecording {
  const text = textIn(file)
  if (text !== undefined) return recordingIn(text, file)
  // without another recording there is nothing to start from
  return first === undefined ? readRecording(file) : { head: first.head, lines: new Map() }
}

/** Milliseconds between looks at a lock that others hold. */
const LOOK_MS = 5

/** Milliseconds after which the lock's holder must be dead: the work takes a fraction. */
const DEAD_MS = 5_000

/** Milliseconds to wait for the lock. */
const TIMEOUT_MS = 30_000

/** @throws Node's error if no lock can be made, and an error after the timeout */
export function whileLocked(file: string, work: () => void): void {
  const lock = `${file}.lock`
  take(lock)
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): void {
  const end = performance.now() + TIMEOUT_MS
  while (performance.now() < end) {
    try {
      closeSync(openSync(lock, 'wx'))
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    // an mtime in the future counts too, as clocks of file systems differ
    if (Math.abs(Date.now() - mtimeMs) > DEAD_MS) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
  throw new Error(`${lock} is held by other processes`)
}
