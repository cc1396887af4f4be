// How often requests were tried, and how long to wait before they are tried again.
import type { FailureKind, ProviderFailure } from './provider.ts'

/** The first wait after a failure, and the longest, in milliseconds. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 2_000

/** Milliseconds until the next attempt: fewer than `least` are none, and more than `most` not needed. */
export interface Delay {
  readonly least: number
  readonly most: number
}

export const AT_ONCE: Delay = { least: 0, most: 0 }

/** The attempts of one batch at so many nodes. */
export class Attempts {
  readonly #nodes: number
  readonly #retries: number
  #limited = 0
  /** Failures that were no limits. */
  broken = 0
  /** Refusals of what a node does not keep: another one may have it. */
  pruned = 0
  /** The shortest wait that one of the nodes asks for. */
  #retryAfterMs: number | undefined

  constructor(nodes: number, retries: number) {
    this.#nodes = nodes
    this.#retries = retries
  }

  /** Nodes that were not tried since the last wait, the next one among them. */
  get untried(): number {
    return this.#nodes - (this.broken % this.#nodes)
  }

  /** @returns undefined where it is not tried again */
  after(failure: ProviderFailure): Delay | undefined {
    return failure.kind === 'limited' ? this.#afterLimit(failure) : this.#afterFailure(failure)
  }

  #afterFailure({ kind }: ProviderFailure): Delay | undefined {
    this.broken += 1
    // each of several is asked, also where nothing is to be repeated
    const most = Math.max(kind === 'final' ? 0 : this.#retries, this.#nodes - 1)
    if (this.broken > most) return undefined
    return this.broken % this.#nodes === 0 ? backoff(this.broken / this.#nodes) : AT_ONCE
  }

  #afterLimit({ retryAfterMs }: ProviderFailure): Delay {
    this.#limited += 1
    if (retryAfterMs !== undefined) {
      this.#retryAfterMs = Math.min(this.#retryAfterMs ?? retryAfterMs, retryAfterMs)
    }
    // another one may have time; all of them are asked before anybody waits
    if (this.#limited % this.#nodes !== 0) return AT_ONCE
    const round = this.#limited / this.#nodes
    const wanted = this.#retryAfterMs
    this.#retryAfterMs = undefined
    if (wanted === undefined) return backoff(round)
    // what it asks for, and should that not do, more
    const wait = round === 1 ? wanted : Math.max(wanted, backoff(round - 1).most)
    return { least: wait, most: wait }
  }
}

/** The wait after so many failures in a row. */
function backoff(failures: number): Delay {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
  return { least: FIRST_WAIT_MS, most }
}

const SEVERITY: readonly FailureKind[] = ['broken', 'pruned', 'limited']

/** The one of two failures that says more of when to ask again. */
export function worseOf(one: ProviderFailure | undefined, other: ProviderFailure): ProviderFailure {
  return one === undefined || SEVERITY.indexOf(one.kind) < SEVERITY.indexOf(other.kind)
    ? other
    : one
}
