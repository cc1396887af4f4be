// Reports long-running work at growing intervals.

export interface Progress {
  /** False while it waits for its turn or for other work. */
  readonly isRunning: boolean
  /** Of the current transaction or call; undefined if not counted. */
  readonly gasUsed: bigint | undefined
}

export interface ProgressReport {
  readonly name: string
  readonly durationMs: number
  readonly gasUsed: bigint | undefined
  readonly others: number
}

/** The first report comes after this time, the next ones after twice the last. */
const FIRST_REPORT_MS = 2_000

const LONGEST_GAP_MS = 60_000

const LOOK_MS = 500

const MAX_REPORTED = 8

interface Work {
  readonly name: string
  readonly progress: Progress
  readonly beganMs: number
  dueMs: number
}

/** Tracks all running work with one timer, which stops when there is none. */
export class Progresses {
  readonly #works = new Set<Work>()
  readonly #report: (report: ProgressReport) => void
  #timer: NodeJS.Timeout | undefined

  constructor(report: (report: ProgressReport) => void) {
    this.#report = report
  }

  /**
   * @param nowMs on performance.now
   * @returns ends the work
   */
  begin(name: string, progress: Progress, nowMs: number = performance.now()): () => void {
    const work = { name, progress, beganMs: nowMs, dueMs: nowMs + FIRST_REPORT_MS }
    this.#works.add(work)
    // all works share one timer: most end before it first fires
    this.#timer ??= setTimeout(() => this.#look(), FIRST_REPORT_MS).unref()
    return () => {
      this.#works.delete(work)
    }
  }

  lookAt(nowMs: number): void {
    const due = [...this.#works].filter(
      ({ progress, dueMs }) => progress.isRunning && dueMs <= nowMs,
    )
    const reported = due.slice(0, MAX_REPORTED)
    for (const work of due) {
      const ranMs = nowMs - work.beganMs
      work.dueMs = nowMs + Math.min(ranMs, LONGEST_GAP_MS)
    }
    reported.forEach(({ name, progress, beganMs }, i) => {
      const others = i === reported.length - 1 ? due.length - reported.length : 0
      this.#report({ name, durationMs: nowMs - beganMs, gasUsed: progress.gasUsed, others })
    })
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#works.clear()
  }

  #look(): void {
    this.#timer = undefined
    this.lookAt(performance.now())
    if (this.#works.size > 0) this.#timer = setTimeout(() => this.#look(), LOOK_MS).unref()
  }
}
