// Verifications that were asked for, kept for whoever polls them: each is done before its id is answered.
import { LruCache } from '../../core/lrucache.ts'
import type { Minimal } from './views.ts'

/** What a verification came to. */
export interface Job {
  readonly isJobCompleted: true
  readonly verificationId: string
  readonly jobStartTime: string
  readonly jobFinishTime: string
  readonly contract: Minimal
  readonly error?: Problem
}

/** Sourcify's form of what is wrong. */
export interface Problem {
  readonly customCode: string
  readonly message: string
  readonly errorId: string
}

/** Verifications that are kept: the newest. */
const MOST_JOBS = 1_000

export class Jobs {
  readonly #jobs = new LruCache<string, Job>(MOST_JOBS)
  #count = 0

  /** Keeps a verification. @returns its id */
  add(
    contract: Minimal,
    startedAt: number,
    endedAt: number,
    error?: Omit<Problem, 'errorId'>,
  ): string {
    this.#count += 1
    const verificationId = idOf(this.#count)
    this.#jobs.set(verificationId, {
      isJobCompleted: true,
      verificationId,
      jobStartTime: timeOf(startedAt),
      jobFinishTime: timeOf(endedAt),
      contract,
      ...(error !== undefined && { error: { ...error, errorId: verificationId } }),
    })
    return verificationId
  }

  of(verificationId: string): Job | undefined {
    return this.#jobs.get(verificationId)
  }
}

/** As long as clients expect, and the same in each run. */
function idOf(count: number): string {
  return `00000000-0000-4000-8000-${count.toString(16).padStart(12, '0')}`
}

export function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
