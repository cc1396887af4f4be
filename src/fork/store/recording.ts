// Writes cassettes: with what is fetched while a fork goes on, and of several recordings of one fork, such as those of branches of
// a repository.
import { statSync } from 'node:fs'
import path from 'node:path'
import { DevchainError } from '../../core/errors.ts'
import { makeFolder } from '../../loader/cachefolder.ts'
import {
  addCassette,
  type Cassette,
  type CassetteHead,
  cassetteIn,
  differenceOf,
  type Lines,
  lineOf,
  readCassette,
  textIn,
  textOfCassette,
} from './cassette.ts'
import { replace, whileLocked } from './lock.ts'
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

/** Does what reads a cassette and writes it anew, while nobody else does. */
function exclusively(file: string, work: () => void): void {
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

interface Target {
  readonly file: string
  readonly head: CassetteHead
  readonly onNotice: (text: string) => void
}

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

export interface Merged {
  readonly items: number
  /** Those of them that it did not have before. */
  readonly added: number
}

/**
 * Adds the items of recordings to a file, and puts its lines in order. A file that is not there begins as the first of them.
 * @throws {DevchainError} `INVALID_PARAMS` for recordings of different forks, and for an item of which two recordings have
 *   different values: then the file stays as it was
 */
export function mergeRecordings(into: string, others: readonly string[]): Merged {
  const read = others.map((file) => ({ file, cassette: readCassette(file) }))
  let merged: Merged = { items: 0, added: 0 }
  exclusively(into, () => {
    const whole = beginningOf(into, read[0]?.cassette)
    const before = whole.lines.size
    for (const { file, cassette } of read) {
      if (differenceOf(whole.head, cassette.head) !== undefined) {
        const message = `${file} is of another fork than ${into}: recordings go together where network, block and --fork-proofs are the same`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      addCassette(whole, cassette, `${file} contradicts ${into}`)
    }
    merged = { items: whole.lines.size, added: whole.lines.size - before }
    replace(into, textOfCassette(whole))
  })
  return merged
}

function beginningOf(file: string, first: Cassette | undefined): Cassette {
  const text = textIn(file)
  if (text !== undefined) return cassetteIn(text, file)
  // without another one there is nothing to begin with
  return first === undefined ? readCassette(file) : { head: first.head, lines: new Map() }
}
