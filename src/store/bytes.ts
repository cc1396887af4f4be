// Bytes written one after another into a growing buffer, and read again with every bound checked.
import { DevchainError } from '../core/errors.ts'
import { hexFromBytes } from '../core/hex.ts'

/** Stored bytes that cannot be what was written. */
export class CorruptStore extends DevchainError {
  constructor(problem: string) {
    super('DAMAGED', problem)
  }
}

/** Few, as a process may have many files. */
const FIRST_ROOM = 16 * 1024

/** A stack of bytes: what is written last can be taken off again. */
export class ByteStack {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_ROOM)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Takes off all bytes from `start`; the result is valid until the next write. */
  pop(start: number): Uint8Array {
    const bytes = this.#bytes.subarray(start, this.#length)
    this.#length = start
    return bytes
  }

  /** Writes again what stands from `start` to `end`. */
  repeat(start: number, end: number): void {
    this.#reserve(end - start)
    this.#bytes.copy(this.#bytes, this.#length, start, end)
    this.#length += end - start
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** A whole number from 0 to 2^53 - 1, seven bits a byte. */
  count(value: number): void {
    this.#reserve(8)
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) {
      this.#bytes[this.#length++] = 128 | (rest % 128)
    }
    this.#bytes[this.#length++] = rest
  }

  double(value: number): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** Of a length that the reader knows. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length)
    this.raw(bytes)
  }

  text(text: string): void {
    const length = Buffer.byteLength(text)
    this.count(length)
    this.#reserve(length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** `0x` and `size` pairs of digits. */
  hex(text: string, size: number): void {
    this.#reserve(size)
    this.#bytes.write(text.slice(2), this.#length, size, 'hex')
    this.#length += size
  }

  /** Zero or more. */
  integer(value: bigint): void {
    if (value < 128n && value >= 0n) {
      this.byte(Number(value))
      return
    }
    const digits = value.toString(16)
    const size = (digits.length + 1) >> 1
    this.byte(128 | size)
    this.hex(`0x${digits.padStart(2 * size, '0')}`, size)
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(2 * (this.#length + size))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  byte(): number {
    return this.#bytes[this.#take(1)]!
  }

  count(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte()
      value += (byte & 127) * unit
      if (byte < 128) return value
      if (unit > 2 ** 49) throw new CorruptStore('a number is too long')
    }
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8))
  }

  /** A copy. */
  raw(length: number): Uint8Array {
    const at = this.#take(length)
    return new Uint8Array(this.#bytes.subarray(at, at + length))
  }

  /** What is not read yet; no copy. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  bytes(): Uint8Array {
    return this.raw(this.count())
  }

  text(): string {
    const length = this.count()
    const at = this.#take(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  hex<Text extends string>(size: number): Text {
    const at = this.#take(size)
    return hexFromBytes(this.#bytes.subarray(at, at + size)) as string as Text
  }

  integer(): bigint {
    const first = this.byte()
    return first < 128 ? BigInt(first) : BigInt(this.hex(first & 127))
  }

  #take(length: number): number {
    const at = this.#at
    if (at + length > this.#bytes.length) throw new CorruptStore('an object ends too early')
    this.#at += length
    return at
  }
}
