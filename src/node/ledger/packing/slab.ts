// Many small byte strings in few large buffers: an array of its own costs each of them 200 bytes.

/** Bytes of a buffer. It lives as long as one of its strings. */
const SLAB = 256 * 1024

class Slabs {
  #slab = new Uint8Array(0)
  #used = 0

  /** The buffer that now has the bytes, and where. */
  add(bytes: Uint8Array): { readonly slab: Uint8Array; readonly start: number } {
    if (this.#used + bytes.length > this.#slab.length) {
      this.#slab = new Uint8Array(Math.max(SLAB, bytes.length))
      this.#used = 0
    }
    const start = this.#used
    this.#slab.set(bytes, start)
    this.#used += bytes.length
    return { slab: this.#slab, start }
  }
}

const slabs = new Slabs()

export class StoredBytes {
  /** With the bytes from `start` on. */
  protected readonly slab: Uint8Array
  protected readonly start: number
  readonly #end: number

  constructor(bytes: Uint8Array) {
    const { slab, start } = slabs.add(bytes)
    this.slab = slab
    this.start = start
    this.#end = start + bytes.length
  }

  /** A copy, as a view would keep the buffer alive. */
  read(from = 0, length?: number): Uint8Array {
    return this.view(from, length).slice()
  }

  /** To be read at once. */
  view(from = 0, length: number = this.#end - this.start - from): Uint8Array {
    return this.slab.subarray(this.start + from, this.start + from + length)
  }
}
