// Counts requests, and notices a client that is alone and waits for each reply before it asks again.
import type { Caller } from '../rpc/session.ts'

/** So many requests of one connection, with none of another between them. Clients that work side by side take turns. */
const IN_A_ROW = 64

/** How much is asked, and by whom. */
export class Demand {
  readonly #onSoleClient: (() => void) | undefined
  #count = 0
  #last: Caller | undefined
  #inARow = 0

  /** @param onSoleClient told once */
  constructor(onSoleClient?: () => void) {
    this.#onSoleClient = onSoleClient
  }

  /** How many requests there have been. */
  get count(): number {
    return this.#count
  }

  /** Takes note of a request. */
  note(caller: Caller): void {
    this.#count++
    if (this.#inARow > IN_A_ROW) return
    this.#inARow = caller === this.#last ? this.#inARow + 1 : 1
    this.#last = caller
    if (this.#inARow > IN_A_ROW) {
      this.#last = undefined
      this.#onSoleClient?.()
    }
  }
}
