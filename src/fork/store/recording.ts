// What is fetched for a fork goes into a cassette, while it goes on.
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevchainError } from '../../core/errors.ts'
import { makeFolder } from '../../loader/cachefolder.ts'
import {
  type CassetteHead,
  cassetteIn,
  differenceOf,
  type Lines,
  lineOf,
  textIn,
  textOfCassette,
} from './cassette.ts'
import { whileLocked } from './lock.ts'
import { type Store, textOfKey } from './store.ts'

/** Milliseconds after which what was fetched is on the disk, should the process be killed. */
const SOON_MS = 300

/**
 * Records what is fetched, and writes it to a file. What the file has of the same fork stays: several runs fill one file, also
 * at the same time.
 * @param onNotice told of a file that is begun anew or that cannot be written any more: a sentence
 * @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be written, that is something else, or that was recorded with
 *   proofs where there are none now, or the other way round
 */
export function recordTo(
  file: string,
  head: CassetteHead,
  onNotice: (text: string) => void,
): Store {
  const lines: Lines = new Map()
  let timer: NodeJS.Timeout | undefined
  let isWritten = false
  let written: string | undefined
  let told: string | undefined
  const write = (): void => {
    exclusively(file, () => {
      const there = textIn(file)
      if (there !== written) addLines(there ?? '', { file, head, onNotice }, lines)
      written = textOfCassette({ head, lines })
      if (there !== written) replace(file, written)
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
      if (message !== told) onNotice(`what is fetched is not recorded: ${message}`)
      told = message
    }
  }
  // what cannot be recorded is told before anything is done
  write()
  return {
    get: () => undefined,
    put: (key, value) => {
      lines.set(textOfKey(key), lineOf(key, value))
      isWritten = false
      timer ??= setTimeout(writeLater, SOON_MS).unref()
    },
    flush: async () => {
      if (!isWritten) writeLater()
    },
  }
}

/**
 * Reads a cassette and writes it anew, while nobody else does.
 * @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be written
 */
export function exclusively(file: string, work: () => void): void {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw new Error('it is no file')
    makeFolder(path.dirname(path.resolve(file)))
    whileLocked(file, work)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    const message = `cannot write the recorded fork ${file}: ${(error as Error).message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}

/** What a recording goes into. */
interface Target {
  readonly file: string
  readonly head: CassetteHead
  readonly onNotice: (text: string) => void
}

/** Adds what a file has of the same fork. */
function addLines(text: string, { file, head, onNotice }: Target, lines: Lines): void {
  if (text === '') return
  const there = cassetteIn(text, file)
  const difference = differenceOf(there.head, head)
  if (difference === 'proofs') throw otherProofs(file, there.head)
  if (difference === 'fork') {
    onNotice(`${file} was recorded of another block, and is begun anew`)
    return
  }
  for (const [name, line] of there.lines) {
    if (!lines.has(name)) lines.set(name, line)
  }
}

function otherProofs(file: string, { proofs }: CassetteHead): DevchainError {
  const [how, flag] = proofs ? ['with', 'add'] : ['without', 'leave out']
  const message = `${file} was recorded ${how} --fork-proofs: ${flag} it, or delete the file to record anew`
  return new DevchainError('INVALID_PARAMS', message)
}

/** Puts a text in the place of a file's, at once. */
export function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, text)
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
