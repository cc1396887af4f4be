// How long one piece of work has waited for a network in vain: all that it asks for shares one bound.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isPromise } from '../../core/promises.ts'

/** What a request, a command or a start has waited. Times are milliseconds of one clock. */
export class Patience {
  readonly since: number
  isOver = false
  #spent = 0
  #until: number

  constructor(now: number) {
    this.since = now
    this.#until = now
  }

  /** Time in which nothing came that the work could go on with. */
  get spent(): number {
    return this.#spent
  }

  /** Counts a time in which nothing came. What several requests wait at once counts once. */
  spend(from: number, to: number): void {
    const begin = Math.max(from, this.#until)
    if (to <= begin) return
    this.#spent += to - begin
    this.#until = to
  }
}

const here = new AsyncLocalStorage<Patience>()

/** The patience of the work that this is part of; undefined outside of any, and once that is done. */
export function currentPatience(): Patience | undefined {
  const patience = here.getStore()
  // a timer that the work has set is no part of it
  return patience?.isOver === true ? undefined : patience
}

/** What comes of work within so many milliseconds; undefined where nobody waits for it any longer. */
export async function inTime<T>(work: Promise<T>, mostMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, mostMs, undefined)
  })
  // it may fail later
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Does work, or begins it, whose requests share one patience. */
export function patiently<T>(work: () => T): T {
  const patience = new Patience(performance.now())
  let made: T | undefined
  try {
    made = here.run(patience, work)
  } finally {
    patience.isOver = !isPromise(made)
  }
  const end = (): void => {
    patience.isOver = true
  }
  return isPromise(made) ? (made.finally(end) as T) : made
}
