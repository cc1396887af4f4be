// Many small byte strings in few large buffers: an array of its own costs each of them 200 bytes.

/** Bytes of a buffer. It lives as long as one of its strings. */
const SLAB = 256 * 1024

let slab = new Uint8Array(0)
let used = 0

export class StoredBytes {
  readonly #slab: Uint8Array
  readonly #start: number
  readonly #end: number

  constructor(bytes: Uint8Array) {
    if (used + bytes.length > slab.length) {
      slab = new Uint8Array(Math.max(SLAB, bytes.length))
      used = 0
    }
    slab.set(bytes, used)
    this.#slab = slab
    this.#start = used
    used += bytes.length
    this.#end = used
  }

  /** A copy, as a view would keep the buffer alive. */
  read(from = 0, length: number = this.#end - this.#start - from): Uint8Array {
    return this.#slab.slice(this.#start + from, this.#start + from + length)
  }
}
