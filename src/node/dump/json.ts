// JSON of hundreds of megabytes, parsed a piece at a time with turns for others in between, as JSON.parse holds this
// thread until it is done.
import { type YieldIfDue, yielder } from '../../core/yield.ts'

/** Bytes that are parsed at once where a list or an object can be divided. */
const PIECE = 2 ** 16

/** Lists and objects within each other that are divided, more than dumps have. What is deeper is parsed at once. */
const MAX_DEPTH = 8

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** What a text in UTF-8 may begin with. */
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf]

/**
 * The value of a JSON text.
 * @param parse parses a piece: a list or an object with some of the members, or the whole text
 * @param piece bytes that are parsed at once
 * @throws {SyntaxError} for what is no JSON
 */
export async function parseLongJson(
  bytes: Uint8Array,
  parse: (text: string) => unknown = JSON.parse,
  piece: number = PIECE,
): Promise<unknown> {
  return await new LongJson(bytes, parse, piece).value()
}

/** A list or an object of which some members have been read: values of a list, names and values of an object. */
interface Container {
  readonly isList: boolean
  readonly found: unknown[]
}

type Entry = readonly [name: string, value: unknown]

/** A text, and how far it has been read. */
class LongJson {
  readonly #bytes: Uint8Array
  readonly #parse: (text: string) => unknown
  readonly #piece: number
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #yieldIfDue: YieldIfDue = yielder()
  #at = 0

  constructor(bytes: Uint8Array, parse: (text: string) => unknown, piece: number) {
    this.#bytes = bytes
    this.#parse = parse
    this.#piece = piece
  }

  async value(): Promise<unknown> {
    if (BYTE_ORDER_MARK.every((byte, index) => this.#bytes[index] === byte)) this.#at = 3
    const first = this.#next()
    if (first !== OPEN_LIST && first !== OPEN_OBJECT) {
      return this.#parse(this.#text(this.#at, this.#bytes.length))
    }
    const value = await this.#container(1)
    if (this.#next() !== undefined) throw this.#unexpected()
    return value
  }

  /** The list or object that begins here. Short members are parsed many at once, a long one is divided itself. */
  async #container(depth: number): Promise<unknown> {
    const first = this.#next()
    if (first !== OPEN_LIST && first !== OPEN_OBJECT) throw this.#unexpected()
    const container: Container = { isList: first === OPEN_LIST, found: [] }
    this.#at += 1
    do {
      await this.#yieldIfDue()
      if (this.#readShort(container, depth)) continue
      const name = container.isList ? undefined : this.#name()
      const value = await this.#container(depth + 1)
      container.found.push(name === undefined ? value : ([name, value] satisfies Entry))
    } while (!this.#isEnd(container))
    const { isList, found } = container
    return isList ? found : Object.fromEntries(found as Entry[])
  }

  /** Reads short members, up to a piece; false where a long one begins then. */
  #readShort(container: Container, depth: number): boolean {
    const begin = this.#at
    for (;;) {
      const member = this.#at
      if (!this.#skipShort(depth)) {
        // what is before it ends with a comma
        if (member > begin) this.#add(container, begin, member - 1)
        return false
      }
      if (this.#bytes[this.#at] !== COMMA || this.#at - begin >= this.#piece) {
        this.#add(container, begin, this.#at)
        return true
      }
      this.#at += 1
    }
  }

  /** Goes to the comma or the bracket after a member; false, at its beginning, for a list or an object that is long. */
  #skipShort(depth: number): boolean {
    const begin = this.#at
    const most = depth < MAX_DEPTH ? begin + this.#piece : Number.POSITIVE_INFINITY
    let open = 0
    for (let at = begin; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at]
      const isEnd = byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT
      if (isEnd && open === 0) {
        this.#at = at
        return true
      }
      if (byte === QUOTE) at = this.#endOfString(at)
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) open += 1
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) open -= 1
      if (open > 0 && at > most) return false
    }
    this.#at = this.#bytes.length
    throw this.#unexpected()
  }

  /** Parses members. None are right only where they are all that there is: an empty list or object. */
  #add({ isList, found }: Container, begin: number, end: number): void {
    const text = this.#text(begin, end)
    if (text.trim() === '' && (found.length > 0 || this.#bytes[end] === COMMA)) {
      throw this.#unexpected()
    }
    const value = this.#parse(isList ? `[${text}]` : `{${text}}`)
    const parsed = isList ? (value as readonly unknown[]) : Object.entries(value as object)
    for (const each of parsed) found.push(each)
  }

  /** The name of a member, up to its value. */
  #name(): string {
    if (this.#next() !== QUOTE) throw this.#unexpected()
    const end = this.#endOfString(this.#at) + 1
    const name = JSON.parse(this.#text(this.#at, end)) as string
    this.#at = end
    if (this.#next() !== COLON) throw this.#unexpected()
    this.#at += 1
    return name
  }

  /** Goes past the comma, or the bracket at the end of what is being read. */
  #isEnd({ isList }: Container): boolean {
    const byte = this.#next()
    const isEnd = byte === (isList ? CLOSE_LIST : CLOSE_OBJECT)
    if (!isEnd && byte !== COMMA) throw this.#unexpected()
    this.#at += 1
    return isEnd
  }

  /** Where the string ends that begins at a place. */
  #endOfString(begin: number): number {
    for (let at = begin + 1; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at]
      if (byte === QUOTE) return at
      if (byte === BACKSLASH) at += 1
    }
    this.#at = this.#bytes.length
    throw this.#unexpected()
  }

  /** Goes past white space, to the byte after it; undefined at the end. */
  #next(): number | undefined {
    let byte = this.#bytes[this.#at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#at += 1
      byte = this.#bytes[this.#at]
    }
    return byte
  }

  #text(begin: number, end: number): string {
    return this.#decoder.decode(this.#bytes.subarray(begin, end))
  }

  #unexpected(): SyntaxError {
    const isCut = this.#at >= this.#bytes.length
    const what = isCut ? 'end' : `"${this.#text(this.#at, this.#at + 1)}"`
    return new SyntaxError(`unexpected ${what} at byte ${this.#at}`)
  }
}
