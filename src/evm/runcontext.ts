// What all runs of an executor share: the machines, of which one is chosen for each job, and their bounds.
import type { Hash } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { Machine } from './machine.ts'

/** Machines of which the fastest that can does the work. */
export interface Machines {
  /**
   * Does `work` on a machine. It must begin anew each time it is called: when a machine has a bug, the next one is tried.
   * @param codeHash of the code that begins; asked only when some code has failed on a machine
   * @returns a promise only when something has to wait
   * @throws {DevchainError} what the work throws; and whatever the last machine throws
   */
  run<T>(codeHash: () => Hash, work: (machine: Machine) => MaybePromise<T>): MaybePromise<T>
}

export interface RunContext {
  readonly machines: Machines
  /** Bytes of memory that the open frames of one run may have together. */
  readonly memoryLimit: number
  /** True once everything that runs is to be given up. */
  readonly isClosed: () => boolean
}
