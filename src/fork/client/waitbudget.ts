// How long one piece of work has waited for a network in vain: all of its requests share one limit.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isPromise } from '../../core/promises.ts'

/** Times are milliseconds of one clock. */
export class WaitBudget {
  readonly since: number
  isOver = false
  /** Time without any answer that the work could use. */
  spent = 0
  #until: number

  constructor(now: number) {
    this.since = now
    this.#until = now
  }

  /** Parallel waits count once. */
  spend(from: number, to: number): void {
    const begin = Math.max(from, this.#until)
    if (to <= begin) return
    this.spent += to - begin
    this.#until = to
  }
}

const here = new AsyncLocalStorage<WaitBudget>()

/** Undefined: outside of any work, or after its end. */
export function currentWaitBudget(): WaitBudget | undefined {
  const budget = here.getStore()
  // a timer that the work has set is no part of it
  return budget?.isOver === true ? undefined : budget
}

/** Undefined: the work takes longer. */
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

export function withWaitBudget<T>(work: () => T): T {
  const budget = new WaitBudget(performance.now())
  const end = (): void => {
    budget.isOver = true
  }
  let made: T | undefined
  try {
    made = here.run(budget, work)
    return isPromise(made) ? (made.finally(end) as T) : made
  } finally {
    if (!isPromise(made)) end()
  }
}
