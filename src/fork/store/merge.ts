// Recordings put together: what the branches of a repository, or several machines, have recorded of one fork.
import { DevchainError } from '../../core/errors.ts'
import {
  addCassette,
  type Cassette,
  cassetteIn,
  differenceOf,
  readCassette,
  textIn,
  textOfCassette,
} from './cassette.ts'
import { exclusively, replace } from './recording.ts'

/** The items of a file after a merge. */
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
