// Machines and limits that all runs of an executor share.
import type { Hash } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { Machine } from './machine.ts'

export interface Machines {
  /**
   * Runs `work` on the fastest machine. After a bug, `work` starts again on the next one.
   * @param codeHash the hash of the outermost code; called only if some code has failed
   * @returns a promise only if it has to wait
   * @throws {DevchainError} errors of the work; and any error of the last machine
   */
  run<T>(codeHash: () => Hash, work: (machine: Machine) => MaybePromise<T>): MaybePromise<T>
}

export interface RunContext {
  readonly machines: Machines
  /** For jobs with a tracer, if others than `machines`. */
  readonly tracing?: Machines | undefined
  /** Limits the memory of all open frames of a run, in bytes. */
  readonly memoryLimit: number
  readonly isClosed: () => boolean
}
