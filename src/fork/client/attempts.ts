// Counts the attempts of a batch, and computes the wait before the next one.
import type { FailureKind, ProviderFailure } from './provider.ts'

/** Milliseconds: the first wait after a failure, and the longest. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 2_000

/** Milliseconds: a wait under `least` is no use, one over `most` not needed. */
export interface Delay {
  readonly least: number
  readonly most: number
}

export const AT_ONCE: Delay = { least: 0, most: 0 }

export class Attempts {
  readonly #nodes: number
  readonly #retries: number
  #limited = 0
  /** Failures other than rate limits. */
  broken = 0
  /** Refusals of pruned state: another node may have it. */
  pruned = 0
  #retryAfterMs: number | undefined

  constructor(nodes: number, retries: number) {
    this.#nodes = nodes
    this.#retries = retries
  }

  /** Nodes not tried since the last wait, including the next one. */
  get untried(): number {
    return this.#nodes - (this.broken % this.#nodes)
  }

  /** @returns undefined: do not retry */
  after(failure: ProviderFailure): Delay | undefined {
    return failure.kind === 'limited' ? this.#afterLimit(failure) : this.#afterFailure(failure)
  }

  #afterFailure({ kind }: ProviderFailure): Delay | undefined {
    this.broken += 1
    // each of several nodes is asked once, even without retries
    const most = Math.max(kind === 'final' ? 0 : this.#retries, this.#nodes - 1)
    if (this.broken > most) return undefined
    return this.broken % this.#nodes === 0 ? backoff(this.broken / this.#nodes) : AT_ONCE
  }

  #afterLimit({ retryAfterMs }: ProviderFailure): Delay {
    this.#limited += 1
    if (retryAfterMs !== undefined) {
      this.#retryAfterMs = Math.min(this.#retryAfterMs ?? retryAfterMs, retryAfterMs)
    }
    // another node may be free: try all of them before any wait
    if (this.#limited % this.#nodes !== 0) return AT_ONCE
    const round = this.#limited / this.#nodes
    const wanted = this.#retryAfterMs
    this.#retryAfterMs = undefined
    if (wanted === undefined) return backoff(round)
    // wait as asked; if that fails, longer
    const wait = round === 1 ? wanted : Math.max(wanted, backoff(round - 1).most)
    return { least: wait, most: wait }
  }
}

function backoff(failures: number): Delay {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
  return { least: FIRST_WAIT_MS, most }
}

const SEVERITY: readonly FailureKind[] = ['broken', 'pruned', 'limited']

/** The failure that decides when to retry. */
export function worseOf(one: ProviderFailure | undefined, other: ProviderFailure): ProviderFailure {
  return one === undefined || SEVERITY.indexOf(one.kind) < SEVERITY.indexOf(other.kind)
    ? other
    : one
}
