// Collects what work misses while it continues with guesses, fetches it in one round, and reruns the work. No result
// of a guess is ever kept.
import { AsyncLocalStorage } from 'node:async_hooks'
import { DevchainError } from '../../core/errors.ts'
import { getOrMake } from '../../core/lrucache.ts'
import { isPromise, type MaybePromise, whenThere } from '../../core/promises.ts'
import { type Miss, MissingState, type MissSource, printMiss } from '../../state/misses.ts'
import { RefusedByUpstream } from '../client/client.ts'

/** A run in which each address depends on the slot before needs as many rounds as it is deep. */
const MOST_ROUNDS = 2_000

/** A round's limit; the next round takes the rest. */
const MOST_MISSES = 20_000

/** Milliseconds that work continues after its first guess: it may have gone astray. */
const ASTRAY_MS = 20

const OF_STATE: ReadonlySet<Miss['kind']> = new Set(['account', 'slot'])

export class Gathering {
  /** False: the work has effects, so it stops at its first miss. */
  readonly guesses: boolean
  /** True after a guess: later results are invalid. */
  hasGuessed = false
  /** True once an effect is permanent, so that a rerun is impossible. */
  hasEffects = false
  readonly #bySource = new Map<MissSource, Map<string, Miss>>()
  #first: { readonly miss: Miss; readonly source: MissSource } | undefined
  #count = 0
  #since = 0

  constructor(guesses: boolean) {
    this.guesses = guesses
  }

  get hasMisses(): boolean {
    return this.#count > 0
  }

  get isAstray(): boolean {
    return this.#count > 0 && performance.now() - this.#since > ASTRAY_MS
  }

  add(miss: Miss, source: MissSource): void {
    if (this.#count >= MOST_MISSES) return
    if (this.#count === 0) this.#since = performance.now()
    this.#first ??= { miss, source }
    const misses = getOrMake(this.#bySource, source, () => new Map<string, Miss>())
    const key = printMiss(miss)
    if (misses.has(key)) return
    misses.set(key, miss)
    this.#count += 1
  }

  /** True if an account or a slot is missing: others may follow from it. */
  get asksForState(): boolean {
    return [...this.#bySource].some(([source, misses]) =>
      [...misses.values()].some(
        (miss) => OF_STATE.has(miss.kind) && source.isKept?.(miss) !== true,
      ),
    )
  }

  /** If something is refused, fetches at least the first miss, which is no guess. */
  async fetch(): Promise<void> {
    try {
      await Promise.all(
        [...this.#bySource].map(([source, misses]) => source.fetch([...misses.values()])),
      )
    } catch (error) {
      // a miss after a guess may not happen once more is known
      const isGuessed = this.#count > 1 && this.hasGuessed
      if (!(error instanceof RefusedByUpstream && isGuessed && this.#first)) throw error
      await this.#first.source.fetch([this.#first.miss])
    }
  }
}

const here = new AsyncLocalStorage<Gathering>()

/** Undefined: guesses are not allowed. */
export function gathering(): Gathering | undefined {
  const attempt = here.getStore()
  return attempt?.guesses === true ? attempt : undefined
}

/** Records a miss. If it returns, the caller may guess; else it throws. */
export function missed(miss: Miss, source: MissSource): void {
  const attempt = gathering()
  if (attempt === undefined) throw new MissingState(miss, source)
  attempt.add(miss, source)
  attempt.hasGuessed = true
}

type Work<T> = (attempt: Gathering) => MaybePromise<T>

interface Completion {
  readonly guesses: boolean
  /** Called once, beside the first round for state, to prefetch what else will be missed. */
  readonly prefetch?: (() => Promise<void> | undefined) | undefined
}

/**
 * @param work is rerun each time; with guesses it has no effects
 * @throws {DevchainError} `UPSTREAM_FAILED` if something cannot be fetched; and errors of the work itself
 */
export function complete<T>(work: Work<T>, how: Completion): MaybePromise<T> {
  const attempt = new Gathering(how.guesses)
  const done = (value: T): MaybePromise<T> =>
    attempt.hasMisses ? retry(work, how, attempt) : value
  const failed = (error: unknown): Promise<T> => {
    noteMiss(error, attempt)
    return retry(work, how, attempt)
  }
  try {
    const value = here.run(attempt, work, attempt)
    return isPromise(value) ? value.then(done, failed) : done(value)
  } catch (error) {
    return failed(error)
  }
}

/** @throws the error if it is no miss, or if a rerun is impossible */
function noteMiss(error: unknown, attempt: Gathering): void {
  if (error instanceof MissingState) {
    for (const { miss, source } of [error, ...error.others]) attempt.add(miss, source)
  }
  if (!attempt.hasMisses || attempt.hasEffects) throw error
}

async function retry<T>(work: Work<T>, how: Completion, first: Gathering): Promise<T> {
  let missing = first
  let { prefetch } = how
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const prefetched = missing.asksForState ? prefetch?.() : undefined
    if (missing.asksForState) prefetch = undefined
    // known misses need not wait for the prefetch
    await Promise.all([missing.fetch(), prefetched])
    const attempt = new Gathering(how.guesses)
    try {
      const value = await here.run(attempt, work, attempt)
      if (!attempt.hasMisses) return value
    } catch (error) {
      noteMiss(error, attempt)
    }
    missing = attempt
  }
  const message = `state of the forked network is still missing after ${MOST_ROUNDS} rounds of requests`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

export function within<T>(attempt: Gathering, work: () => T): T {
  return here.run(attempt, work)
}

/** Completes a command of a chain, and marks the surrounding attempt as one with effects. */
export function completeCommand<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  const whole = here.getStore()
  return whenThere(complete(work, { guesses: true }), (value) => {
    if (whole !== undefined) whole.hasEffects = true
    return value
  })
}
