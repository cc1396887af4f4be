// Limits the bytes received from all peers and not handled yet.
import { hintAtPressure } from '../../core/yield.ts'

/** Bytes of unfinished and waiting messages of all peers. */
export const MAX_INTAKE: number = 8 * 2 ** 20

/** Bytes on many links before a hint to V8 to collect them, as it waits too long. A hint's cost grows with the heap. */
const COLLECTED = 4 * 2 ** 20
const MANY_LINKS = 8

export interface IntakeHolder {
  /** Called if peer buffers are full and this one's data is the oldest; afterwards it holds nothing. */
  readonly letGo: () => void
}

export class Intake {
  /** Least recent progress first. */
  readonly #held = new Map<IntakeHolder, number>()
  #bytes = 0
  #passed = 0

  /** Sets a holder's unhandled bytes. Above the limit, the holders with the oldest data are disconnected. */
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

  /** A message was finished or handled: the rest counts as new. */
  advance(holder: IntakeHolder, bytes: number): void {
    this.release(holder)
    this.hold(holder, bytes)
  }

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
