// The symbolic stack: compile-time content of each slot, relative to the height at the trace's start. Slots below are entry
// words, whose used limbs the prologue loads once.
import type { Emitter, Limb, Limbs } from '../wasm/emitter.ts'
import { limbsOf } from '../wasm/limbs.ts'

export interface Word {
  readonly limbs: (Limb | undefined)[]
  /** The slot, below 0, that it had on entry; undefined if computed. */
  readonly entry: number | undefined
}

/** What an exit writes back: slots that differ from entry, and the stack height. */
export interface StackSnapshot {
  readonly slots: readonly number[]
  readonly words: readonly Word[]
  readonly height: number
}

export class SymbolicStack {
  readonly #emitter: Emitter
  readonly #current = new Map<number, Word>()
  /** Words on entry, by slot. */
  readonly entries: Map<number, Word> = new Map()
  /** The lowest slot read, at most 0, and the highest top, at least 0. */
  lowest = 0
  highest = 0
  height = 0

  constructor(emitter: Emitter) {
    this.#emitter = emitter
  }

  pushWord(word: Word): void {
    this.#current.set(this.height, word)
    this.height++
    if (this.height > this.highest) this.highest = this.height
  }

  push(limbs: Limbs): void {
    this.pushWord({ limbs: [...limbs], entry: undefined })
  }

  pushLimb(limb: Limb): void {
    this.push([limb, 0n, 0n, 0n])
  }

  pushValue(value: bigint): void {
    this.push(limbsOf(value))
  }

  popWord(): Word {
    this.height--
    return this.at(this.height)
  }

  pop(): Limbs {
    return this.limbs(this.popWord())
  }

  peek(): Word {
    return this.at(this.height - 1)
  }

  drop(): void {
    this.height--
    this.#reach(this.height)
  }

  duplicate(depth: number): void {
    this.pushWord(this.at(this.height - depth))
  }

  /** @param nearer the distance from the top, as `other` */
  swap(other: number, nearer = 0): void {
    const one = this.height - 1 - nearer
    const two = this.height - 1 - other
    const word = this.at(one)
    this.#current.set(one, this.at(two))
    this.#current.set(two, word)
  }

  at(slot: number): Word {
    const known = this.#current.get(slot) ?? this.entries.get(slot)
    if (known !== undefined) return known
    this.#reach(slot)
    const word: Word = { limbs: [undefined, undefined, undefined, undefined], entry: slot }
    this.entries.set(slot, word)
    return word
  }

  limbs(word: Word): Limbs {
    return [this.limb(word, 0), this.limb(word, 1), this.limb(word, 2), this.limb(word, 3)]
  }

  /** Allocates a local for a limb of an entry word, which the prologue loads. */
  limb(word: Word, i: number): Limb {
    const known = word.limbs[i]
    if (known !== undefined) return known
    const local = this.#emitter.newLocal()
    word.limbs[i] = local
    return local
  }

  snapshot(): StackSnapshot {
    const slots: number[] = []
    const words: Word[] = []
    for (let slot = this.lowest; slot < this.height; slot++) {
      const word = this.#current.get(slot)
      if (word === undefined || word.entry === slot) continue
      this.limbs(word)
      slots.push(slot)
      words.push(word)
    }
    return { slots, words, height: this.height }
  }

  #reach(slot: number): void {
    if (slot < this.lowest) this.lowest = slot
  }
}
