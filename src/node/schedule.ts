// The only timers of a node: they mine on an interval.
import type { Chain } from './chain.ts'
import { mine } from './commands.ts'
import { intervalOf } from './mining.ts'

/**
 * Mines a block each time the chain's interval is over, for as long as its mining state says so. The timer follows
 * changes of the mining state, also those that a revert brings, and keeps no process alive.
 * @returns ends the schedule
 */
export function scheduleMining(chain: Chain): () => void {
  const schedule = new Schedule(chain)
  const stopListening = chain.onChange(({ before, after }) => {
    if (intervalOf(before.mining) !== intervalOf(after.mining)) schedule.restart()
  })
  schedule.restart()
  return () => {
    stopListening()
    schedule.stop()
  }
}

/** One timer, of which there is never a second. */
class Schedule {
  readonly #chain: Chain
  #timer: NodeJS.Timeout | undefined

  constructor(chain: Chain) {
    this.#chain = chain
  }

  /** Begins anew with the interval that the chain has now. */
  restart(): void {
    this.stop()
    const intervalMs = intervalOf(this.#chain.state.mining)
    if (intervalMs !== undefined) this.#arm(intervalMs, performance.now() + intervalMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** @param due when the block is to be mined; the next one's time counts from it, so that blocks do not drift */
  #arm(intervalMs: number, due: number): void {
    const timer = setTimeout(
      () => {
        void this.#mine().finally(() => {
          // a timer that was replaced meanwhile must not go on beside its replacement
          if (this.#timer !== timer) return
          this.#arm(intervalMs, Math.max(due + intervalMs, performance.now()))
        })
      },
      Math.max(0, due - performance.now()),
    )
    timer.unref()
    this.#timer = timer
  }

  async #mine(): Promise<void> {
    const { executor, environment } = this.#chain
    try {
      await this.#chain.update(async (state) => {
        // stopped while this command waited for its turn
        if (intervalOf(state.mining) === undefined) return { state, value: undefined }
        const { state: after, dropped } = await mine(executor, state, { now: environment.now() })
        return { state: after, value: undefined, dropped }
      })
    } catch (error) {
      environment.onBug(error)
    }
  }
}
