// Why and where in Solidity an execution failed: told beside its error, where the user's source is known.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { runOfMined } from '../../node/calls/replay.ts'
import { runOf } from '../../node/chain/failedrun.ts'
import type { DispatcherOptions } from '../../rpc/dispatch.ts'
import type { MethodContext } from '../common/context.ts'
import { failureOf } from '../compat/failure.ts'

/**
 * Explains failed executions, if there is a project: each is run again.
 * @param onBug told of what goes wrong with that; the error is answered all the same
 */
export function explaining(
  onBug: (error: unknown) => void,
): NonNullable<DispatcherOptions<MethodContext>['explain']> {
  return (error, { project: { project }, chain }) => {
    if (project === undefined || !(error instanceof DevchainError)) return undefined
    const failure = failureOf(error)
    if (failure === undefined) return undefined
    const { hash, reason } = failure
    const again = hash === undefined ? runOf(error) : runOfMined(chain, hash as Hash)
    return (
      again &&
      project.linesOf(again, reason).catch((bug: unknown) => {
        // what cannot be run again, or takes too long, is not explained
        if (!(bug instanceof DevchainError)) onBug(bug)
        return undefined
      })
    )
  }
}
