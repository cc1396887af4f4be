// A growing byte buffer with WebAssembly's number encodings (LEB128).

const FIRST_SIZE = 4096

/** Splits a 64-bit constant without bigint arithmetic, which is slow. */
const wide = new BigInt64Array(1)
const halves = new Int32Array(wide.buffer)

export class Writer {
  #bytes: Uint8Array = new Uint8Array(FIRST_SIZE)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** A view, valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.#length++] = value
  }

  bytes(values: Uint8Array | readonly number[]): void {
    if (this.#length + values.length > this.#bytes.length) this.#grow(values.length)
    this.#bytes.set(values, this.#length)
    this.#length += values.length
  }

  unsigned(value: number): void {
    let rest = value >>> 0
    while (rest >= 0x80) {
      this.byte((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.byte(rest)
  }

  signed32(value: number): void {
    let rest = value | 0
    while (rest < -64 || rest > 63) {
      this.byte((rest & 0x7f) | 0x80)
      rest >>= 7
    }
    this.byte(rest & 0x7f)
  }

  /** The lower 64 bits, as signed. */
  signed64(value: bigint): void {
    wide[0] = BigInt.asIntN(64, value)
    let low = halves[0] ?? 0
    let high = halves[1] ?? 0
    while (high !== low >> 31 || low < -64 || low > 63) {
      this.byte((low & 0x7f) | 0x80)
      low = (low >>> 7) | (high << 25)
      high >>= 7
    }
    this.byte(low & 0x7f)
  }

  #grow(room: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + room))
    larger.set(this.written)
    this.#bytes = larger
  }
}
