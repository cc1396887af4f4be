// Interval mining: the only timers of a node.
import { DevchainError } from '../../core/errors.ts'
import { bigintFromBytes } from '../../core/hex.ts'
import type { Chain } from '../chain/chain.ts'
import { mine } from '../commands/mine.ts'
import { intervalOf, isSameRhythm, nextIntervalOf } from '../ledger/miningmode.ts'

/** Follows the mining state, also through reverts, without keeping the process alive. Returns how to stop it. */
export function scheduleMining(chain: Chain): () => void {
  const schedule = new Schedule(chain)
  const stopListening = chain.onChange(({ before, after }) => {
    if (!isSameRhythm(before.mining, after.mining)) schedule.restart()
  })
  schedule.restart()
  return () => {
    stopListening()
    schedule.stop()
  }
}

class Schedule {
  readonly #chain: Chain
  #timer: NodeJS.Timeout | undefined
  #failure: string | undefined

  constructor(chain: Chain) {
    this.#chain = chain
  }

  restart(): void {
    this.stop()
    this.#armAfter(performance.now())
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** @param last when the last block was due: counting from there avoids drift */
  #armAfter(last: number): void {
    const { state, environment } = this.#chain
    const random = (): number => Number(bigintFromBytes(environment.random(4))) / 2 ** 32
    const intervalMs = nextIntervalOf(state.mining, random)
    if (intervalMs === undefined) return
    const due = Math.max(last + intervalMs, performance.now())
    const timer = setTimeout(() => {
      void this.#mine().finally(() => {
        // a replaced timer must not continue beside its replacement
        if (this.#timer === timer) this.#armAfter(due)
      })
    }, due - performance.now())
    this.#timer = timer.unref()
  }

  async #mine(): Promise<void> {
    const { environment, execution, nextBlock } = this.#chain
    const progress = {
      isRunning: false,
      gasUsed: undefined as bigint | undefined,
      aborted: false,
      onPause(gasUsed?: bigint): void {
        this.isRunning = true
        this.gasUsed = gasUsed
      },
    }
    const end = environment.begin?.('interval mining', progress)
    try {
      await this.#chain.update(
        async (state, executor) => {
          // mining stopped while this command waited
          if (intervalOf(state.mining) === undefined) return { state, value: undefined }
          const begun = await nextBlock.take(executor)
          const request = { now: environment.now(), bulk: execution.bulk, begun }
          const { state: after, dropped } = await mine(executor, state, request)
          return { state: after, value: undefined, dropped }
        },
        { cancellation: progress },
      )
      this.#failure = undefined
    } catch (error) {
      this.#report(error)
    } finally {
      end?.()
    }
  }

  /** Reports each kind of refusal once: a chain at the end of time refuses a block at each interval. */
  #report(error: unknown): void {
    const word = error instanceof DevchainError ? error.word : undefined
    // a reset or revert cancelled the block
    if (word === 'CANCELLED' || (word !== undefined && word === this.#failure)) return
    this.#failure = word
    const report = word === undefined ? error : `interval mining: ${(error as Error).message}`
    this.#chain.environment.onBug(report)
  }
}
