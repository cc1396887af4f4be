// Splits the JSON of a genesis file or a dump as it arrives: large members into their entries, so that no more than an entry
// is there at once.
import type { MaybePromise } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import {
  CLOSE,
  COLON,
  COMMA,
  isSpace,
  OPEN,
  QUOTE,
  readChunks,
  skipSpace,
  stringEnd,
  valueEnd,
} from './jsonbytes.ts'

/** What editors may write before the text: U+FEFF in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf]

/** Bytes of an entry: V8 makes no longer strings. */
const MAX_ENTRY = 512 * 2 ** 20 - 32

/** How far a closing bracket is behind the opening one in ASCII. */
const CLOSING = 2

/** Entries that a pattern reads before others have their turn. */
const PLAIN_A_TURN = 1_000

/** The text is no JSON object, or an entry of it is too long to read. */
export class UnreadableJson extends Error {}

/** A member whose entries are pieces. */
export interface Split {
  /** What it must begin with for that. */
  readonly brackets: readonly number[]
  readonly plain?: PlainEntries
}

/** Entries of an object in the form that most have: one pattern takes a third of the time of reading byte by byte. */
export interface PlainEntries {
  readonly first: RegExp
  /** With the comma before it. */
  readonly next: RegExp
  /** @returns false to have the entry as a piece */
  readonly take: (groups: RegExpExecArray) => boolean
}

/** @param parts of the JSON text, between which there may be spaces */
export function plainEntries(parts: readonly string[], take: PlainEntries['take']): PlainEntries {
  const pattern = (each: readonly string[]): RegExp => new RegExp(each.join('[ \\n\\r\\t]*'), 'y')
  return { first: pattern(parts), next: pattern([',', ...parts]), take }
}

/** A member or entry: what it belongs to (`''`, `blocks`; in lower case), its name or place there, and where its value is. */
export interface Piece {
  readonly path: string
  readonly name: string | number
  readonly start: number
  /** Undefined for a member whose entries follow. */
  readonly end: number | undefined
}

export type TakePiece = (piece: Piece, bytes: Buffer) => MaybePromise<void>

/**
 * @param splits by their paths, in lower case
 * @throws {UnreadableJson} with what is wrong
 */
export async function readPieces(
  chunks: AsyncIterable<Uint8Array>,
  splits: ReadonlyMap<string, Split>,
  take: TakePiece,
): Promise<void> {
  const splitter = new Splitter(splits)
  const yieldIfDue = yielder()
  const rest = await readChunks(chunks, async (bytes) => {
    splitter.begin(bytes)
    for (;;) {
      splitter.readPlain()
      const piece = splitter.next()
      if (piece === undefined) return splitter.rest()
      const taken = take(piece, bytes)
      // awaiting nothing takes as long as reading a small entry
      if (taken !== undefined) await taken
      const pause = yieldIfDue()
      if (pause !== undefined) await pause
    }
  })
  if (!splitter.isComplete || !rest.every(isSpace)) throw notJson(splitter.position)
}

export function textOf(bytes: Buffer, { start, end }: Piece): string {
  return bytes.toString('utf8', start, end)
}

interface Level {
  readonly path: string
  readonly close: number
  readonly plain: PlainEntries | undefined
  /** Entries so far. */
  count: number
}

class Splitter {
  readonly #splits: ReadonlyMap<string, Split>
  readonly #levels: Level[] = []
  #bytes: Buffer = Buffer.alloc(0)
  /** A character for each byte. */
  #text: string | undefined
  #hasBegun = false
  #at = 0
  #before = 0

  constructor(splits: ReadonlyMap<string, Split>) {
    this.#splits = splits
  }

  get isComplete(): boolean {
    return this.#hasBegun && this.#levels.length === 0
  }

  /** In all bytes so far. */
  get position(): number {
    return this.#before + this.#at
  }

  /** @param bytes what was left before, and what follows */
  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.#text = undefined
  }

  /** What is not read yet; the next bytes begin with it. */
  rest(): Buffer {
    const rest = this.#bytes.subarray(this.#at)
    if (rest.length > MAX_ENTRY) {
      throw new UnreadableJson(`an entry has more than ${MAX_ENTRY} bytes`)
    }
    this.#before += this.#at
    this.#at = 0
    return rest
  }

  /** Reads plain entries up to the first that is not, or not all there. */
  readPlain(): void {
    const level = this.#levels.at(-1)
    if (level?.plain === undefined) return
    const { first, next, take } = level.plain
    this.#text ??= this.#bytes.toString('latin1')
    for (let turn = 0; turn < PLAIN_A_TURN; turn++) {
      const pattern = level.count === 0 ? first : next
      pattern.lastIndex = this.#at
      const groups = pattern.exec(this.#text)
      if (groups === null || !take(groups)) return
      level.count += 1
      this.#at = pattern.lastIndex
    }
  }

  /** Undefined if there is no whole one in the bytes. */
  next(): Piece | undefined {
    const bytes = this.#bytes
    for (;;) {
      const at = skipSpace(bytes, this.#at)
      this.#at = at
      const level = this.#levels.at(-1)
      if (at >= bytes.length || this.isComplete) return undefined
      if (level === undefined) {
        if (this.position === 0 && bytes[0] === MARK[0]) {
          if (bytes.length < MARK.length) return undefined
          if (MARK.every((byte, i) => bytes[i] === byte)) {
            this.#at = MARK.length
            continue
          }
        }
        if (bytes[at] !== OPEN) throw notJson(this.position)
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
    const { plain } = this.#splits.get(path) ?? {}
    this.#levels.push({ path, close: bracket + CLOSING, plain, count: 0 })
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
    const own = `${path === '' ? '' : `${path}.`}${name}`.toLowerCase()
    if (level.close === CLOSE && this.#splits.get(own)?.brackets.includes(bracket) === true) {
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
    return { name: this.#parsedName(bytes, start, end + 1), end: skipSpace(bytes, colon + 1) }
  }

  #parsedName(bytes: Buffer, start: number, end: number): string {
    try {
      return JSON.parse(bytes.toString('utf8', start, end)) as string
    } catch {
      throw notJson(this.#before + start)
    }
  }
}

function notJson(position: number): UnreadableJson {
  return new UnreadableJson(`it is not JSON: unexpected byte or end at ${position}`)
}
