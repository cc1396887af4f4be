// Text of struct logs as bytes. A step has some twenty parts, of which V8 would keep a tree of strings until it is read: a
// third of the time of a trace.
import type { Step } from '../../../evm/executor.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'

/** Bytes that are handed to the writer together. */
const PIECE = 64 * 1024

/** Bytes of a step without stack and details, at most. */
const STEP = 512

/** Bytes of a word with quotes and comma, at most. */
const WORD = 69

/** A stack as it was written last. */
interface Written {
  readonly bytes: Buffer
  readonly start: number
  /** Where each of its words ends, from `start` on. */
  readonly ends: number[]
}

export class StepText {
  readonly #writer: JsonWriter
  #bytes = Buffer.allocUnsafeSlow(PIECE)
  #at = 0
  /** By depth. */
  readonly #stacks: Written[] = []

  constructor(writer: JsonWriter) {
    this.#writer = writer
  }

  /** Makes room for a step without its details. */
  reserve(words: number): void {
    const size = STEP + words * WORD
    if (this.#at + size > this.#bytes.length) this.#flush(Math.max(PIECE, size))
  }

  /** Short ASCII that there is room for. */
  add(text: string): void {
    const bytes = this.#bytes
    const start = this.#at
    for (let i = 0; i < text.length; i++) bytes[start + i] = text.charCodeAt(i)
    this.#at = start + text.length
  }

  /** ASCII of any length. */
  addLong(text: string): void {
    if (text.length <= this.#bytes.length - this.#at) {
      this.#at += this.#bytes.write(text, this.#at, 'latin1')
      return
    }
    this.#flush(PIECE)
    this.#writer.write(text)
  }

  /** A natural number. */
  number(value: number): void {
    if (value >= 2 ** 31) this.add(value.toString())
    else this.#digits(value, 10)
  }

  bigint(value: bigint): void {
    if (value >= 0n && value < SMALL) this.#digits(Number(value), 10)
    else this.add(value.toString())
  }

  /** The words at the bottom that are as in the last stack of this depth are copied. */
  stack({ depth, stack, unchanged }: Step): void {
    this.add(',"stack":[')
    const last = this.#stacks[depth]
    const ends = last?.ends ?? []
    const start = this.#at
    const isNear = last?.bytes === this.#bytes
    let from = isNear ? Math.min(unchanged, ends.length) : 0
    if (from > 0) {
      const length = ends[from - 1]!
      this.#bytes.copyWithin(start, last!.start, last!.start + length)
      this.#at += length
    }
    while (ends.length > from) ends.pop()
    for (; from < stack.length; from++) {
      this.add(from === 0 ? '"0x' : ',"0x')
      this.#hex(stack[from]!)
      this.add('"')
      ends.push(this.#at - start)
    }
    this.add(']')
    this.#stacks[depth] = { bytes: this.#bytes, start, ends }
  }

  end(): void {
    this.#flush(0)
  }

  #hex(value: bigint): void {
    if (value < SMALL) this.#digits(Number(value), 16)
    else this.add(value.toString(16))
  }

  /** @param value below 2 ** 31 */
  #digits(value: number, base: number): void {
    let end = this.#at + 1
    for (let rest = (value / base) | 0; rest > 0; rest = (rest / base) | 0) end += 1
    this.#at = end
    let rest = value | 0
    do {
      const above = (rest / base) | 0
      this.#bytes[--end] = DIGITS[rest - above * base]!
      rest = above
    } while (rest > 0)
  }

  #flush(next: number): void {
    if (this.#at > 0) this.#writer.piece(this.#bytes.subarray(0, this.#at))
    this.#bytes = Buffer.allocUnsafeSlow(next)
    this.#at = 0
  }
}

const SMALL = 2n ** 31n

const DIGITS = Buffer.from('0123456789abcdef')
