// Splits the JSON of a dump as it arrives: large members into their entries, so that no more than an entry is there at once.

import type { MaybePromise } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import {
  CLOSE,
  COLON,
  COMMA,
  isSpace,
  OPEN,
  OPEN_LIST,
  QUOTE,
  readChunks,
  skipSpace,
  stringEnd,
  valueEnd,
} from '../../state/packed/jsonbytes.ts'
import { noDump } from './members.ts'

/** Bytes of an entry: V8 makes no longer strings. */
const MAX_ENTRY = 512 * 2 ** 20 - 32

/** How far a closing bracket is behind the opening one in ASCII. */
const CLOSING = 2

/** The value of a member whose entries follow. */
export const IS_SPLIT: symbol = Symbol('split')

/** A member or entry: what it belongs to (`''`, `blocks`), its name or place there, and its value. */
export type TakePiece = (path: string, name: string | number, value: unknown) => MaybePromise<void>

/** Which members are split into entries, and the brackets that they must begin with for that. */
const SPLIT: ReadonlyMap<string, readonly number[]> = new Map([
  ['accounts', [OPEN]],
  ['blocks', [OPEN_LIST]],
  ['transactions', [OPEN_LIST]],
  ['historical_states', [OPEN_LIST, OPEN]],
  ['historical_states.states', [OPEN_LIST]],
])

interface Level {
  readonly path: string
  readonly close: number
  /** Entries so far. */
  count: number
}

/** @throws {DevchainError} `INVALID_PARAMS` for what is no JSON object */
export async function readPieces(
  chunks: AsyncIterable<Uint8Array>,
  take: TakePiece,
): Promise<void> {
  const splitter = new Splitter()
  const yieldIfDue = yielder()
  const rest = await readChunks(chunks, async (bytes) => {
    for (;;) {
      const piece = splitter.next(bytes)
      if (piece === undefined) return splitter.rest(bytes)
      const value = piece.end === undefined ? IS_SPLIT : parsed(bytes, piece)
      const taken = take(piece.path, piece.name, value)
      // awaiting nothing takes as long as reading a small entry
      if (taken !== undefined) await taken
      const pause = yieldIfDue()
      if (pause !== undefined) await pause
    }
  })
  if (!splitter.isComplete || !rest.every(isSpace)) throw notJson(splitter.position)
}

interface Piece {
  readonly path: string
  readonly name: string | number
  readonly start: number
  /** Undefined for a member whose entries follow. */
  readonly end: number | undefined
}

const TRACES = Buffer.from('"traces":')

/** Call frames are most of a transaction, and nobody reads them. Within a string the quotes would be escaped. */
function withoutTraces(bytes: Buffer, { start, end }: Piece): string {
  const found = bytes.subarray(start, end).indexOf(TRACES)
  const from = start + found + TRACES.length
  const to = found < 0 ? undefined : valueEnd(bytes, from)
  if (to === undefined) return utf8(bytes, start, end)
  return `${utf8(bytes, start, from)}null${utf8(bytes, to, end)}`
}

function utf8(bytes: Buffer, start: number, end: number | undefined): string {
  return bytes.toString('utf8', start, end)
}

/** Of integers that JavaScript would round: a nonce may have 64 bits. */
const LONG_NUMBER = /([:[,]\s*|^)(\d{16,})(?=\s*([,}\]]|$))/g

function parsed(bytes: Buffer, piece: Piece): unknown {
  const { path, name, start, end } = piece
  try {
    const text = path === 'transactions' ? withoutTraces(bytes, piece) : utf8(bytes, start, end)
    return JSON.parse(text.replace(LONG_NUMBER, '$1"$2"'))
  } catch (error) {
    const where = typeof name === 'number' ? `${path}[${name}]` : [path, name].join('.')
    throw noDump(`it is not JSON: ${where.replace(/^\./, '')}: ${(error as Error).message}`)
  }
}

class Splitter {
  readonly #levels: Level[] = []
  #hasBegun = false
  #at = 0
  #before = 0

  get isComplete(): boolean {
    return this.#hasBegun && this.#levels.length === 0
  }

  /** In all bytes so far. */
  get position(): number {
    return this.#before + this.#at
  }

  /** What is not read yet; the next call of `next` has it first. */
  rest(bytes: Buffer): Buffer {
    const rest = bytes.subarray(this.#at)
    if (rest.length > MAX_ENTRY) throw noDump(`an entry has more than ${MAX_ENTRY} bytes`)
    this.#before += this.#at
    this.#at = 0
    return rest
  }

  /** Undefined if there is no whole one in the bytes. */
  next(bytes: Buffer): Piece | undefined {
    for (;;) {
      const at = skipSpace(bytes, this.#at)
      this.#at = at
      const level = this.#levels.at(-1)
      if (at >= bytes.length || this.isComplete) return undefined
      if (level === undefined) {
        if (bytes[at] !== OPEN) throw notJson(this.#before + at)
        this.#hasBegun = true
        this.#enter('', OPEN, at)
      } else if (bytes[at] === level.close) {
        this.#levels.pop()
        this.#at = at + 1
      } else {
        return this.#entry(bytes, at, level)
      }
    }
  }

  #enter(path: string, bracket: number, at: number): void {
    this.#levels.push({ path, close: bracket + CLOSING, count: 0 })
    this.#at = at + 1
  }

  /** Undefined if it is not all there. */
  #entry(bytes: Buffer, from: number, level: Level): Piece | undefined {
    const { path, count } = level
    if (count > 0 && bytes[from] !== COMMA) throw notJson(this.#before + from)
    let start = count === 0 ? from : skipSpace(bytes, from + 1)
    let name: string | number = count
    if (level.close === CLOSE) {
      const named = this.#nameAt(bytes, start)
      if (named === undefined) return undefined
      ;({ name, end: start } = named)
    }
    const bracket = bytes[start]
    if (bracket === undefined) return undefined
    const own = path === '' ? String(name) : `${path}.${name}`
    if (level.close === CLOSE && SPLIT.get(own)?.includes(bracket) === true) {
      level.count += 1
      this.#enter(own, bracket, start)
      return { path, name, start, end: undefined }
    }
    const end = valueEnd(bytes, start)
    if (end === undefined) return undefined
    level.count += 1
    this.#at = end
    return { path, name, start, end }
  }

  /** A name, and where its value starts. */
  #nameAt(
    bytes: Buffer,
    start: number,
  ): { readonly name: string; readonly end: number } | undefined {
    if (start >= bytes.length) return undefined
    if (bytes[start] !== QUOTE) throw notJson(this.#before + start)
    const end = stringEnd(bytes, start + 1)
    const colon = skipSpace(bytes, end + 1)
    if (colon >= bytes.length) return undefined
    if (bytes[colon] !== COLON) throw notJson(this.#before + colon)
    const name = parsed(bytes, { path: '', name: 'a name', start, end: end + 1 }) as string
    return { name, end: skipSpace(bytes, colon + 1) }
  }
}

function notJson(position: number): Error {
  return noDump(`it is not JSON: unexpected byte or end at ${position}`)
}
