// Machines and limits that all runs of an executor share.
import type { Tiers } from './run/tiers.ts'

export interface RunContext {
  readonly machines: Tiers
  /** For jobs with a tracer, if others than `machines`. */
  readonly tracing?: Tiers | undefined
  /** Limits the memory of all open frames of a run, in bytes. */
  readonly memoryLimit: number
  readonly isClosed: () => boolean
}
