// What a run, a command or a read needs of another network, gathered while it goes on with guesses: then all of it is
// fetched at once, and it begins anew. Nothing that was made of a guess is ever kept.
import { AsyncLocalStorage } from 'node:async_hooks'
import { DevchainError } from '../../core/errors.ts'
import { isPromise, type MaybePromise, whenThere } from '../../core/promises.ts'
import { type Miss, MissingState, type MissSource, printMiss } from '../../state/misses.ts'
import { RefusedByUpstream } from '../client/client.ts'

/** Rounds until everything is known. A run whose addresses each depend on a slot before needs as many as it is deep. */
const MOST_ROUNDS = 2_000

/** Misses of one round; more are left to the next. */
const MOST_MISSES = 20_000

/** Milliseconds that something goes on after its first guess: it may have gone astray. */
const ASTRAY_MS = 20

export class Gathering {
  /** False: it has effects, so that it ends at its first miss. */
  readonly guesses: boolean
  /** True once a guess was given: what follows from it is worth nothing. */
  hasGuessed = false
  /** True once something of it is there for good, so that it cannot begin anew. */
  hasEffects = false
  readonly #bySource = new Map<MissSource, Map<string, Miss>>()
  /** What was missed before any guess. */
  #first: { readonly miss: Miss; readonly source: MissSource } | undefined
  #count = 0
  #since = 0

  constructor(guesses: boolean) {
    this.guesses = guesses
  }

  get hasMisses(): boolean {
    return this.#count > 0
  }

  /** True once it has gone on with guesses for long enough: what comes of it is not wanted. */
  get isAstray(): boolean {
    return this.#count > 0 && performance.now() - this.#since > ASTRAY_MS
  }

  add(miss: Miss, source: MissSource): void {
    if (this.#count >= MOST_MISSES) return
    if (this.#count === 0) this.#since = performance.now()
    this.#first ??= { miss, source }
    const misses = this.#bySource.get(source) ?? new Map<string, Miss>()
    this.#bySource.set(source, misses)
    const key = printMiss(miss)
    if (misses.has(key)) return
    misses.set(key, miss)
    this.#count += 1
  }

  /** True when the network is to be asked for an account or a slot: others may follow from it. */
  get asksForState(): boolean {
    return [...this.#bySource].some(([source, misses]) =>
      [...misses.values()].some((miss) => isOfState(miss) && source.isKept?.(miss) !== true),
    )
  }

  /** Fetches all that was missed; where some of it is refused, what is needed whatever else is. */
  async fetch(): Promise<void> {
    try {
      await Promise.all(
        [...this.#bySource].map(([source, misses]) => source.fetch([...misses.values()])),
      )
    } catch (error) {
      // what is missed after a guess may be nothing that anybody asks for once more is known
      const isGuessed = this.#count > 1 && this.hasGuessed
      if (!(error instanceof RefusedByUpstream && isGuessed && this.#first)) throw error
      await this.#first.source.fetch([this.#first.miss])
    }
  }
}

function isOfState({ kind }: Miss): boolean {
  return kind === 'account' || kind === 'slot'
}

const here = new AsyncLocalStorage<Gathering>()

/** The attempt that this is part of, with guesses; undefined where nothing may be guessed. */
export function gathering(): Gathering | undefined {
  const attempt = here.getStore()
  return attempt?.guesses === true ? attempt : undefined
}

/** Notes that something is missing. When it returns, a guess may be given for it; where none may, it throws. */
export function missed(miss: Miss, source: MissSource): void {
  const attempt = gathering()
  if (attempt === undefined) throw new MissingState(miss, source)
  attempt.add(miss, source)
  attempt.hasGuessed = true
}

type Work<T> = (attempt: Gathering) => MaybePromise<T>

interface Completion {
  /** False: without guesses, as the work has effects; it ends at its first miss. */
  readonly guesses: boolean
  /** Called once, beside the first round that asks for state: it may know what else will be missed. */
  readonly foresee?: (() => Promise<void> | undefined) | undefined
}

/**
 * Does work until nothing that it needs is missing.
 * @param work begins anew each time, as a part of an attempt; with guesses it has no effects
 * @throws {DevchainError} `UPSTREAM_FAILED` when something cannot be fetched; and what the work throws that knew all
 */
export function complete<T>(work: Work<T>, how: Completion): MaybePromise<T> {
  const attempt = new Gathering(how.guesses)
  const done = (value: T): MaybePromise<T> =>
    attempt.hasMisses ? again(work, how, attempt) : value
  const failed = (error: unknown): Promise<T> => {
    noteMiss(error, attempt)
    return again(work, how, attempt)
  }
  try {
    const value = here.run(attempt, work, attempt)
    return isPromise(value) ? value.then(done, failed) : done(value)
  } catch (error) {
    return failed(error)
  }
}

/** @throws the error where it is no miss, or where what has happened cannot happen again */
function noteMiss(error: unknown, attempt: Gathering): void {
  if (error instanceof MissingState) {
    for (const { miss, source } of [error, ...error.others]) attempt.add(miss, source)
  }
  if (!attempt.hasMisses || attempt.hasEffects) throw error
}

/** Fetches what the first attempt missed, and tries until nothing is missed. */
async function again<T>(work: Work<T>, how: Completion, first: Gathering): Promise<T> {
  let missing = first
  let { foresee } = how
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const foreseen = missing.asksForState ? foresee?.() : undefined
    if (missing.asksForState) foresee = undefined
    // what is missing is known before: it need not wait for what may be
    await Promise.all([missing.fetch(), foreseen])
    const attempt = new Gathering(how.guesses)
    try {
      const value = await here.run(attempt, work, attempt)
      if (!attempt.hasMisses) return value
    } catch (error) {
      noteMiss(error, attempt)
    }
    missing = attempt
  }
  const message = `the forked network was asked ${MOST_ROUNDS} times, and still something is missing`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

/** Does work where nothing is guessed: it throws at its first miss. */
export function withoutGuesses<T>(work: () => T): T {
  return here.run(new Gathering(false), work)
}

export function within<T>(attempt: Gathering, work: () => T): T {
  return here.run(attempt, work)
}

/** Makes a command of a chain complete; once it is, what it is part of has an effect. */
export function completeCommand<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  const whole = here.getStore()
  return whenThere(complete(work, { guesses: true }), (value) => {
    if (whole !== undefined) whole.hasEffects = true
    return value
  })
}
