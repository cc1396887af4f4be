// Limits on what peers may ask of a node, and timeouts.

/** Per peer; tests pass shorter timeouts. */
export const LIMITS = {
  helloMs: 5_000,
  answerMs: 10_000,
  /** Of silence. */
  pingMs: 10_000,
  /** Of silence. */
  silenceMs: 30_000,
  /** Messages of one peer: per second, and in a burst. */
  messagesPerSecond: 2_000,
  messagesAtOnce: 4_000,
  /** Waiting messages and bytes of one peer; above, its socket is not read. */
  waitingMessages: 256,
  waitingBytes: 1_048_576,
  /** Waiting messages and bytes of all peers, in equal shares. */
  waitingBytesOfAll: 4_194_304,
  /** Unsent bytes of all peers, in equal shares; above, a peer's requests wait. */
  unsentBytes: 2_097_152,
}

export type Limits = Readonly<typeof LIMITS>

/** Token bucket. */
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
