// JSON results written in pieces, because as values they would not fit into memory.
import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw, type ZlibOptions } from 'node:zlib'
import { limitExceeded } from '../core/errors.ts'
import type { MaybePromise } from '../core/promises.ts'
import { nextTurn } from '../core/yield.ts'
import type { Encoder, Json } from './schema.ts'

// Node loads zlib in a getter, which most starts never call
const deflate = (bytes: Buffer): Promise<Buffer> =>
  promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(bytes, { level: constants.Z_BEST_SPEED })
const inflate = (bytes: Buffer): Promise<Buffer> => promisify<Buffer, Buffer>(inflateRaw)(bytes)

/** Characters written or compressed together, few enough not to block other work: small pieces shrink little and are sent slowly. */
const PIECE = 512 * 1024

/** Pieces queued for compression before the writer waits. */
const MAX_UNPACKED = 8

interface TextLimits {
  /** Bytes of JSON. */
  readonly size: number
  /** Bytes kept in memory, most of them compressed. */
  readonly kept: number
  /** Bytes from the start kept uncompressed: compressing takes longer than writing. */
  readonly plain: number
}

const DEFAULT_LIMITS: TextLimits = { size: 16_000_000_000, kept: 400_000_000, plain: 32_000_000 }

/** Characters up to which a text is handled as one string. */
const SHORT = 64 * 1024

/** Milliseconds of writing before yielding to other work. */
const TURN_MS = 10

/** Bytes, or how to get them again. */
export type StoredPiece = Buffer | (() => Promise<Buffer>)

export interface Written {
  readonly size: number
  readonly pieces: readonly StoredPiece[]
}

/** JSON that is written already or on first read; can be read repeatedly, in pieces. */
export class JsonText {
  /** The whole text, if short and already written. */
  readonly short: string | undefined
  /** Makes the value, if it fits into memory. */
  readonly value: (() => Json) | undefined
  /** Entries, if it is a list and they are counted. */
  readonly count: number | undefined
  readonly #write: () => Written
  #made: Written | undefined

  /** @param write called at most once */
  constructor(
    write: () => Written,
    { value, count, short }: Partial<Pick<JsonText, 'value' | 'count' | 'short'>> = {},
  ) {
    this.#write = write
    this.value = value
    this.count = count
    this.short = short
  }

  get size(): number {
    return this.#written.size
  }

  get pieces(): readonly StoredPiece[] {
    return this.#written.pieces
  }

  /** UTF-8; undefined if any piece is compressed or elsewhere. */
  get bytes(): readonly Buffer[] | undefined {
    const { pieces } = this.#written
    const buffers = pieces.filter((piece) => typeof piece !== 'function')
    return buffers.length === pieces.length ? buffers : undefined
  }

  within(before: string, after: string): JsonText {
    const [head, tail] = [Buffer.from(before), Buffer.from(after)]
    const { size, pieces } = this.#written
    const written = { size: size + head.length + tail.length, pieces: [head, ...pieces, tail] }
    return new JsonText(() => written)
  }

  /** UTF-8, decompressed or read on demand. */
  async *chunks(): AsyncIterableIterator<Buffer> {
    for (const piece of this.#written.pieces) {
      yield typeof piece === 'function' ? await piece() : piece
    }
  }

  /** @throws {DevchainError} `LIMIT_EXCEEDED` above `limit` bytes */
  async text(limit: number): Promise<string> {
    if (this.size > limit) {
      const message = `the result has ${this.size} bytes, and may have ${limit} here: ask for less, or for it alone over HTTP`
      throw limitExceeded(message)
    }
    const chunks: Buffer[] = []
    for await (const chunk of this.chunks()) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  }

  get #written(): Written {
    this.#made ??= this.#write()
    return this.#made
  }
}

/** A list that fits into memory. */
type WrittenList = Required<Pick<JsonText, 'value' | 'count'>>

/** Writes JSON of any size; another thread compresses large output. The writer must keep it valid JSON. */
export class JsonWriter {
  readonly #limits: TextLimits
  readonly #pieces: StoredPiece[] = []
  readonly #packing: Promise<void>[] = []
  /** UTF-8 after the last piece, to be compressed together. */
  #bytes: Buffer[] = []
  #length = 0
  /** Text after these bytes. */
  #text = ''
  #size = 0
  #kept = 0
  #turnBegan = performance.now()

  constructor(limits: Partial<TextLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
  }

  /** @throws {DevchainError} `LIMIT_EXCEEDED` */
  write(text: string): void {
    this.#text += text
    if (this.#text.length > SHORT) this.#endText()
  }

  /** As `write`, UTF-8 that is not short. */
  piece(bytes: Buffer): void {
    if (this.#text !== '') this.#endText()
    this.#add(bytes)
  }

  /** A value that fits into memory. */
  value(value: Json): void {
    this.write(JSON.stringify(value))
  }

  /** Await it between writes: other work gets a turn, and compression catches up. */
  yieldIfDue(): Promise<void> | undefined {
    const isDue = performance.now() - this.#turnBegan >= TURN_MS
    return isDue || this.#packing.length > MAX_UNPACKED ? this.#yield(isDue) : undefined
  }

  async #yield(isDue: boolean): Promise<void> {
    if (this.#packing.length > MAX_UNPACKED) await this.settle()
    if (!isDue) return
    await nextTurn()
    this.#turnBegan = performance.now()
  }

  /** Resolves once few pieces wait for compression. */
  async settle(): Promise<void> {
    while (this.#packing.length > MAX_UNPACKED / 2) await this.#packing.shift()
  }

  end(list?: WrittenList): MaybePromise<JsonText> {
    const text = this.#text
    if (this.#pieces.length + this.#bytes.length > 0) return this.#endLong(list)
    const write = (): Written => {
      const bytes = utf8Of(text)
      return { size: bytes.length, pieces: [bytes] }
    }
    return new JsonText(write, { ...list, short: text })
  }

  async #endLong(list?: WrittenList): Promise<JsonText> {
    if (this.#text !== '') this.#endText()
    this.#endPiece()
    await Promise.all(this.#packing)
    const written = { size: this.#size, pieces: this.#pieces }
    return new JsonText(() => written, list)
  }

  #endText(): void {
    const bytes = utf8Of(this.#text)
    this.#text = ''
    this.#add(bytes)
  }

  #add(bytes: Buffer): void {
    if (this.#size < this.#limits.plain) {
      this.#keep(bytes)
      return
    }
    this.#bytes.push(bytes)
    this.#length += bytes.length
    if (this.#length >= PIECE) this.#endPiece()
  }

  #endPiece(): void {
    if (this.#length > 0) this.#keep(Buffer.concat(this.#bytes))
    this.#bytes = []
    this.#length = 0
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length
    const { size, kept } = this.#limits
    if (this.#size > size || this.#kept > kept) {
      const message = `the result is over the limit of ${size} bytes of JSON (or ${kept} packed): ask for less of it`
      throw limitExceeded(message)
    }
    const at = this.#pieces.push(piece) - 1
    if (this.#size <= this.#limits.plain) {
      this.#kept += piece.length
      return
    }
    const packing = deflate(piece).then((packed) => {
      this.#kept += packed.length
      this.#pieces[at] = () => inflate(packed)
    })
    this.#packing.push(packing)
  }
}

/** UTF-8. Text is almost always ASCII, which V8 copies as Latin-1 in a sixth of the time. */
function utf8Of(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')
}

/** From so many items on, a list is written in turns. */
const MANY = 64

/** Items of a list's first piece, and most of one. Those between have as many as probably take `PIECE`: later ones may be longer. */
const FIRST_ITEMS = 128
const MOST_ITEMS = 1024

const LIST_BEGIN = 0x5b

/**
 * The items themselves if they are few, or their JSON.
 * @param bytesOf the JSON of some of them, with a comma before each
 */
export function longList<T>(
  items: readonly T[],
  { encode }: Pick<Encoder<T>, 'encode'>,
  bytesOf: (items: readonly T[]) => Buffer = (some) =>
    utf8Of(`,${JSON.stringify(some.map(encode)).slice(1, -1)}`),
): MaybePromise<readonly T[] | JsonText> {
  return items.length < MANY ? items : writeList(items, encode, bytesOf)
}

async function writeList<T>(
  items: readonly T[],
  encode: (item: T) => Json,
  bytesOf: (items: readonly T[]) => Buffer,
): Promise<JsonText> {
  const writer = new JsonWriter()
  let count = FIRST_ITEMS
  for (let from = 0; from < items.length; ) {
    if (from > 0) await writer.yieldIfDue()
    const some = items.slice(from, from + count)
    const piece = bytesOf(some)
    if (from === 0) piece[0] = LIST_BEGIN
    writer.piece(piece)
    from += some.length
    count = Math.min(Math.ceil((PIECE * count) / piece.length), 4 * count, MOST_ITEMS)
  }
  writer.write(']')
  return writer.end({ value: () => items.map(encode), count: items.length })
}
