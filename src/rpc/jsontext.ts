// A result that is written as it is worked out, because as a value it would not fit into memory: JSON in pieces.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw, type ZlibOptions } from 'node:zlib'
import { DevchainError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { Json } from './schema.ts'

// node loads zlib when a getter is read, which most starts do without
const deflate = (bytes: Buffer): Promise<Buffer> =>
  promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(bytes, { level: constants.Z_BEST_SPEED })
const inflate = (bytes: Buffer): Promise<Buffer> => promisify<Buffer, Buffer>(inflateRaw)(bytes)

/**
 * Characters that are packed together: few enough that packing one piece holds nobody up, and many enough that traces
 * shrink well.
 */
const PIECE = 512 * 1024

/** Pieces that may wait for the thread that packs them before the writer waits. */
const MAX_UNPACKED = 8

/** How much there may be of one result. */
export interface TextLimits {
  /** Bytes of JSON. */
  readonly size: number
  /** Bytes that are kept of it, most of them packed. */
  readonly kept: number
  /** Bytes from its beginning that are kept as they are: packing takes longer than writing. */
  readonly plain: number
}

const DEFAULT_LIMITS: TextLimits = { size: 16_000_000_000, kept: 400_000_000, plain: 32_000_000 }

/** Characters up to which a text is short: then it is handled as one string. */
const SHORT = 64 * 1024

/** Milliseconds of writing after which other work gets a turn. */
const TURN_MS = 10

/** A piece: the text itself, or packed. */
export type Piece = Buffer | { readonly packed: Buffer }

/** Text in pieces. */
export interface Written {
  /** Bytes of the JSON. */
  readonly size: number
  readonly pieces: readonly Piece[]
}

/** JSON that has been written, or will be when it is read: once or more, a piece at a time. */
export class JsonText {
  /** The whole text, where it is short and has been written. */
  readonly short: string | undefined
  /** Makes the value itself, where that fits into memory. */
  readonly value: (() => Json) | undefined
  readonly #write: () => Written
  #made: Written | undefined

  /** @param write called at most once */
  constructor(write: () => Written, value?: () => Json, short?: string) {
    this.#write = write
    this.value = value
    this.short = short
  }

  /** Bytes of the JSON. */
  get size(): number {
    return this.#written.size
  }

  /** The text as bytes of UTF-8, where none of it is packed. */
  get bytes(): readonly Buffer[] | undefined {
    const { pieces } = this.#written
    const buffers = pieces.filter((piece): piece is Buffer => !('packed' in piece))
    return buffers.length === pieces.length ? buffers : undefined
  }

  /** The same with text before and after it. */
  within(before: string, after: string): JsonText {
    const [head, tail] = [Buffer.from(before), Buffer.from(after)]
    const { size, pieces } = this.#written
    const written = { size: size + head.length + tail.length, pieces: [head, ...pieces, tail] }
    return new JsonText(() => written)
  }

  /** The text as bytes of UTF-8, unpacked as it is asked for. */
  async *chunks(): AsyncIterableIterator<Buffer> {
    for (const piece of this.#written.pieces) {
      yield 'packed' in piece ? await inflate(piece.packed) : piece
    }
  }

  /**
   * The whole text at once.
   * @throws {DevchainError} `LIMIT_EXCEEDED` when there is more than `limit` of it, in bytes
   */
  async text(limit: number): Promise<string> {
    if (this.size > limit) {
      const message = `the result has ${this.size} bytes, and may have ${limit} here: ask for less, or for it alone over HTTP`
      throw new DevchainError('LIMIT_EXCEEDED', message)
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

function shortText(text: string, value?: () => Json): JsonText {
  const write = (): Written => {
    const bytes = Buffer.from(text)
    return { size: bytes.length, pieces: [bytes] }
  }
  return new JsonText(write, value, text)
}

/** Writes JSON of any size: what is much is packed on another thread as it grows. The writer answers for it being JSON. */
export class JsonWriter {
  readonly #limits: TextLimits
  readonly #pieces: Piece[] = []
  readonly #packing: Promise<void>[] = []
  /** What comes behind the pieces. */
  #text = ''
  #size = 0
  #kept = 0
  #turnBegan = performance.now()

  constructor(limits: Partial<TextLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
  }

  /** @throws {DevchainError} `LIMIT_EXCEEDED` when it becomes too much */
  write(text: string): void {
    this.#text += text
    if (this.#text.length >= PIECE) this.#endPiece()
  }

  /** A value that fits into memory. */
  value(value: Json): void {
    this.write(JSON.stringify(value))
  }

  /** To be awaited between two writes: lets others have their turn, and the packing catch up. */
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

  /** Resolves once not much waits to be packed. */
  async settle(): Promise<void> {
    while (this.#packing.length > MAX_UNPACKED / 2) await this.#packing.shift()
  }

  /**
   * What was written.
   * @param value makes the value that it stands for, where that fits into memory
   */
  end(value?: () => Json): MaybePromise<JsonText> {
    const isShort = this.#pieces.length === 0 && this.#text.length <= SHORT
    return isShort ? shortText(this.#text, value) : this.#endLong(value)
  }

  async #endLong(value?: () => Json): Promise<JsonText> {
    await Promise.all(this.#packing)
    if (this.#text !== '') {
      const rest = Buffer.from(this.#text)
      this.#size += rest.length
      this.#pieces.push(rest)
    }
    const written = { size: this.#size, pieces: this.#pieces }
    return new JsonText(() => written, value)
  }

  #endPiece(): void {
    this.#keep(Buffer.from(this.#text))
    this.#text = ''
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length
    this.#check()
    const at = this.#pieces.push(piece) - 1
    if (this.#size <= this.#limits.plain) {
      this.#kept += piece.length
      return
    }
    const packing = deflate(piece).then((packed) => {
      this.#kept += packed.length
      this.#pieces[at] = { packed }
    })
    this.#packing.push(packing)
  }

  #check(): void {
    const { size, kept } = this.#limits
    if (this.#size <= size && this.#kept <= kept) return
    const message = `the result is over the limit of ${size} bytes of JSON (or ${kept} packed): ask for less of it`
    throw new DevchainError('LIMIT_EXCEEDED', message)
  }
}
