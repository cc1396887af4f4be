// How much peers may ask of a node, and how long it waits for them.

/** What one peer may cost. Tests pass their own where they would wait too long. */
export interface Limits {
  /** In which the first words have to be said. */
  readonly helloMs: number
  /** In which a question has to be answered. */
  readonly answerMs: number
  /** Of silence, after which a peer is asked whether it is there. */
  readonly pingMs: number
  /** Of silence, after which it is held to be gone. */
  readonly silenceMs: number
  /** Messages of one peer in a second, and how many at once. */
  readonly messagesPerSecond: number
  readonly messagesAtOnce: number
  /** Messages and bytes of one peer that wait to be handled; beyond, its socket is not read. */
  readonly waitingMessages: number
  readonly waitingBytes: number
  /** The same of all peers, of which each has an equal share. */
  readonly waitingBytesOfAll: number
  /** Bytes that wait to be sent, of which each peer has an equal share; beyond, its questions wait. */
  readonly unsentBytes: number
}

export const LIMITS: Limits = {
  helloMs: 5_000,
  answerMs: 10_000,
  pingMs: 10_000,
  silenceMs: 30_000,
  messagesPerSecond: 2_000,
  messagesAtOnce: 4_000,
  waitingMessages: 256,
  waitingBytes: 2 ** 20,
  waitingBytesOfAll: 4 * 2 ** 20,
  unsentBytes: 2 * 2 ** 20,
}

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

  /** False when it is one too many. */
  take(now: number): boolean {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
