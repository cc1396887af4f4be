// Linear memory with Keccak-256 in it, for bytes that are hashed again and again as parts of them change.
import { WASM } from './sponge.wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  readonly rehash: (
    source: number,
    length: number,
    from: number,
    states: number,
    target: number,
  ) => void
}

/** Bytes that the sponge takes in at once; what comes before a changed byte is kept by blocks of them. */
export const RATE = 136

/** Bytes of the sponge's state. */
export const STATE_LENGTH = 200

/** The module's own constants are below. */
const FIRST_FREE = 4096

const PAGE = 65_536

/** Pages that the memory grows by: 1 MB. */
const GROWTH = 16

/**
 * A piece of linear memory that is only ever given out, never taken back: it goes as a whole, with its last user.
 * `bytes` is another array after each `allocate`.
 */
export class Arena {
  readonly #exports: Exports
  #free = FIRST_FREE
  bytes: Uint8Array

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(WASM, 'base64'))
    this.#exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports
    this.bytes = new Uint8Array(this.#exports.memory.buffer)
  }

  /** @returns where `length` bytes of zeros are */
  allocate(length: number): number {
    const at = this.#free
    this.#free = (at + length + 7) & ~7
    const missing = this.#free - this.bytes.length
    if (missing > 0) {
      this.#exports.memory.grow(Math.max(GROWTH, Math.ceil(missing / PAGE)))
      this.bytes = new Uint8Array(this.#exports.memory.buffer)
    }
    return at
  }

  /** Hashes `length` bytes at `source`; the 32 bytes of the hash go to `target`. */
  hash(source: number, length: number, target: number): void {
    this.#exports.rehash(source, length, 0, 0, target)
  }

  /**
   * As `hash`, where none of the bytes before `from` has changed since the last call for the same bytes.
   * @param states where `STATE_LENGTH` bytes for each whole block of `RATE` bytes are kept between calls
   */
  rehash(source: number, length: number, from: number, states: number, target: number): void {
    this.#exports.rehash(source, length, from, states, target)
  }
}
