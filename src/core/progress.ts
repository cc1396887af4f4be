// What takes long: told as it runs, with how far it has come, at growing intervals.

export interface Progress {
  /** True once it really runs; until then it waits for its turn, or for what others do. */
  readonly isRunning: boolean
  /** Of the transaction or call that runs now; undefined where nobody counts. */
  readonly gasUsed: bigint | undefined
}

export interface ProgressReport {
  readonly name: string
  readonly durationMs: number
  readonly gasUsed: bigint | undefined
  /** How many more run as long, of which nothing is told now. */
  readonly others: number
}

/** How long something runs before it is told of. It is told again after twice as long, and so on. */
const FIRST_TOLD_MS = 2_000

const LONGEST_GAP_MS = 60_000

/** Time between two looks, while there is work. */
const LOOK_MS = 500

/** Works told of at one look: the longest ones. */
const MOST_TOLD = 8

interface Work {
  readonly name: string
  readonly progress: Progress
  readonly beganMs: number
  dueMs: number
}

/** Keeps all work that goes on in mind. It has one timer, and none while there is no work. */
export class Progresses {
  readonly #works = new Set<Work>()
  readonly #tell: (report: ProgressReport) => void
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (report: ProgressReport) => void) {
    this.#tell = tell
  }

  /**
   * Something begins.
   * @param nowMs on performance.now
   * @returns to be called when it ends
   */
  begin(name: string, progress: Progress, nowMs: number = performance.now()): () => void {
    const work = { name, progress, beganMs: nowMs, dueMs: nowMs + FIRST_TOLD_MS }
    this.#works.add(work)
    // most is over long before the first look, which is the same for all
    this.#timer ??= setTimeout(() => this.#look(), FIRST_TOLD_MS).unref()
    return () => {
      this.#works.delete(work)
    }
  }

  lookAt(nowMs: number): void {
    const due = [...this.#works].filter(
      ({ progress, dueMs }) => progress.isRunning && dueMs <= nowMs,
    )
    const told = due.slice(0, MOST_TOLD)
    for (const work of due) {
      const ranMs = nowMs - work.beganMs
      work.dueMs = nowMs + Math.min(ranMs, LONGEST_GAP_MS)
    }
    told.forEach(({ name, progress, beganMs }, i) => {
      const others = i === told.length - 1 ? due.length - told.length : 0
      this.#tell({ name, durationMs: nowMs - beganMs, gasUsed: progress.gasUsed, others })
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
