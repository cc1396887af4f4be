// Caches code in the instance's memory by hash, with its jump map and loop counters. When one of two halves is full, the other
// is cleared.
import type { Hash } from '../../core/hex.ts'
import type { Instance } from './instance.ts'
import { CODE_PADDING, CODES, CODES_HALF } from './layout.ts'

/** Code in memory. Code that returns after clearing gets a new object. */
export interface CodePlace {
  readonly hash: Hash
  readonly bytes: Uint8Array
  readonly code: number
  readonly jumps: number
  readonly cells: number
}

export class Codes {
  readonly #instance: Instance
  readonly #byHash = new Map<Hash, CodePlace>()
  readonly #byPlace = new Map<number, CodePlace>()
  #half = 0
  #top: number = CODES
  #isFull = false
  readonly #onClear: () => void

  constructor(instance: Instance, onClear: () => void) {
    this.#instance = instance
    this.#onClear = onClear
  }

  /** Call between jobs: running code must not be cleared. */
  makeRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#half = 1 - this.#half
    this.#top = CODES + this.#half * CODES_HALF
    for (const [hash, place] of this.#byHash) {
      if (place.code < this.#top || place.code >= this.#top + CODES_HALF) continue
      this.#byHash.delete(hash)
      this.#byPlace.delete(place.code)
      this.#onClear()
    }
  }

  known(hash: Hash): CodePlace | undefined {
    return this.#byHash.get(hash)
  }

  at(code: number): CodePlace | undefined {
    return this.#byPlace.get(code)
  }

  /** Undefined if there is no room until the next job. */
  add(hash: Hash, bytes: Uint8Array): CodePlace | undefined {
    const size = (bytes.length + CODE_PADDING + 31) & ~31
    const cellsSize = 4 * size
    const code = this.#top + 32
    const end = code + 2 * size + cellsSize
    if (end > CODES + (this.#half + 1) * CODES_HALF) {
      this.#isFull ||= 2 * size + cellsSize + 32 <= CODES_HALF
      return undefined
    }
    this.#top = end
    const instance = this.#instance
    instance.bytes.set(bytes, code)
    instance.bytes.fill(0, code + bytes.length, code + size)
    const jumps = code + size
    instance.exports.analyze(code, bytes.length, jumps)
    const cells = jumps + size
    instance.bytes.fill(0, cells, end)
    const place = { hash, bytes, code, jumps, cells }
    this.#byHash.set(hash, place)
    this.#byPlace.set(code, place)
    return place
  }
}
