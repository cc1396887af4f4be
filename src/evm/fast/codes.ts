// Keeps code in the instance's memory, once for each code hash, with its map and the cells where loops are counted. The room
// has two halves. When one is full the other is cleared, so that code in use stays or soon comes back.
import type { Hash } from '../../core/hex.ts'
import type { Instance } from './instance.ts'
import { CODE_PADDING, CODES, CODES_HALF } from './layout.ts'

/** A code in memory. The same code has another value once it was cleared away and came back. */
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
  /** 0 or 1: which half is being filled. */
  #half = 0
  #top: number = CODES
  #isFull = false
  /** Told of each code whose place is given up. */
  readonly #onClear: (code: CodePlace) => void

  constructor(instance: Instance, onClear: (code: CodePlace) => void) {
    this.#instance = instance
    this.#onClear = onClear
  }

  get count(): number {
    return this.#byHash.size
  }

  /** Between jobs: nothing that runs loses its code. */
  makeRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#half = 1 - this.#half
    this.#top = CODES + this.#half * CODES_HALF
    for (const [hash, place] of this.#byHash) {
      if (place.code < this.#top || place.code >= this.#top + CODES_HALF) continue
      this.#byHash.delete(hash)
      this.#byPlace.delete(place.code)
      this.#onClear(place)
    }
  }

  known(hash: Hash): CodePlace | undefined {
    return this.#byHash.get(hash)
  }

  at(code: number): CodePlace | undefined {
    return this.#byPlace.get(code)
  }

  /** Puts code into memory. @returns undefined when there is no room, until the next job */
  add(hash: Hash, bytes: Uint8Array): CodePlace | undefined {
    const size = aligned(bytes.length + CODE_PADDING)
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

function aligned(size: number): number {
  return (size + 31) & ~31
}
