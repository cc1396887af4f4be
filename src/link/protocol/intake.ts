// What came from all peers of a node and is not handled yet: so many bytes at most, whoever sent them.
import { hintAtPressure } from '../../core/yield.ts'

/** Bytes of unfinished messages, and of whole ones that wait, of all peers together. */
export const MAX_INTAKE: number = 8 * 2 ** 20

/**
 * Bytes that come or go on many links until V8 is told that most of them are free: it lets more gather than peers should
 * cost. To be told costs as much as its heap is large; a few links need it not.
 */
const COLLECTED = 4 * 2 ** 20
const MANY_LINKS = 8

export interface IntakeHolder {
  /** Too much came, and this one's has waited longest. It holds nothing afterwards. */
  readonly letGo: () => void
}

export class Intake {
  /** Those whose bytes got on least lately first. */
  readonly #held = new Map<IntakeHolder, number>()
  #bytes = 0
  #passed = 0

  /** Somebody has so many bytes unhandled now. Beyond what there may be, who has waited longest is let go. */
  hold(holder: IntakeHolder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0)
    if (bytes === 0) this.#held.delete(holder)
    else this.#held.set(holder, bytes)
    while (this.#bytes > MAX_INTAKE) {
      const [oldest] = this.#held.keys()
      if (oldest === undefined) return
      oldest.letGo()
      this.release(oldest)
    }
  }

  /** One of its messages was finished or handled: what it still has counts as new. */
  advance(holder: IntakeHolder, bytes: number): void {
    this.release(holder)
    this.hold(holder, bytes)
  }

  /** So many bytes came or went, and are free soon. */
  pass(bytes: number, links: number): void {
    this.#passed += bytes
    if (this.#passed < COLLECTED || links < MANY_LINKS) return
    this.#passed = 0
    hintAtPressure()
  }

  release(holder: IntakeHolder): void {
    this.#bytes -= this.#held.get(holder) ?? 0
    this.#held.delete(holder)
  }
}
