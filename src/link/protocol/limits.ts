// How much peers may ask of a node, and how long it waits for them.

/** What one peer may cost. Tests pass their own where they would wait too long. */
export const LIMITS = {
  /** In which the first words have to be said. */
  helloMs: 5_000,
  /** In which a question has to be answered. */
  answerMs: 10_000,
  /** Of silence, after which a peer is asked whether it is there. */
  pingMs: 10_000,
  /** Of silence, after which it is held to be gone. */
  silenceMs: 30_000,
  /** Messages of one peer in a second, and how many at once. */
  messagesPerSecond: 2_000,
  messagesAtOnce: 4_000,
  /** Messages and bytes of one peer that wait to be handled; beyond, its socket is not read. */
  waitingMessages: 256,
  waitingBytes: 1_048_576,
  /** The same of all peers, of which each has an equal share. */
  waitingBytesOfAll: 4_194_304,
  /** Bytes that wait to be sent, of which each peer has an equal share; beyond, its questions wait. */
  unsentBytes: 2_097_152,
}

export type Limits = Readonly<typeof LIMITS>

/** So many at once, and so many a second from then on. */
export class Throttle {
  readonly #perMs: number
  readonly #most: number
  #left: number
  #at: number

  constructor(perSecond: number, atOnce: number, now: number) {
    this.#perMs = perSecond / 1000
    this.#most = atOnce
    this.#left = atOnce
    this.#at = now
  }

  take(now: number): boolean {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
