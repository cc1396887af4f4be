// Cancellation of long work, which checks for it at each pause.
import { DevchainError } from '../core/errors.ts'

/**
 * An `AbortSignal` is one. Requests and commands have lighter ones, because an AbortController takes 10 µs on Node 20: nearly as
 * long as an `eth_call`.
 */
export interface Cancellation {
  readonly aborted: boolean
  /** What happened to the chain, if that is the cause. */
  readonly event?: string | undefined
  /** Called at each pause, before `aborted` is read, with the gas used so far if it is counted. */
  onPause?(gasUsed: bigint | undefined): void
}

/** @throws {DevchainError} `CANCELLED` */
export function throwIfCancelled(cancellation: Cancellation | undefined, gasUsed?: bigint): void {
  cancellation?.onPause?.(gasUsed)
  if (cancellation?.aborted) throw cancelled(cancellation.event)
}

export function cancelled(event?: string): DevchainError {
  const reason =
    event === undefined
      ? 'the client disconnected or the chain was closed'
      : `the chain ${event} while it ran`
  return new DevchainError('CANCELLED', `the execution was cancelled: ${reason}`)
}
