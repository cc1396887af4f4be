// Runs messages on the chain without a trace.
import { type DevchainError, type ErrorFacts, ExecutionError } from '../../core/errors.ts'
import { hexFromBytes } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import { throwIfCancelled } from '../../evm/cancellation.ts'
import type { ConsoleLine, Failure, Outcome } from '../../evm/executor.ts'
import { EXECUTION_ERROR } from '../../evm/reasons.ts'
import { describeCap } from '../../protocol/stategas.ts'
import type { World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockReference } from '../ledger/references.ts'
import { type CallOptions, calledOn, contextAt, runMessage } from './callcontext.ts'
import type { BlockOverrides } from './overrides.ts'
import type { CallRequest } from './request.ts'

/**
 * Runs a message on the world after a block, in that block's environment (`pending`: the next block's). Reverts and
 * halts are outcomes, not errors: `executionError` makes errors of them.
 * @param request gas defaults to the block's gas limit; a larger value is honoured
 * @returns a promise only when it has to wait: a first job, a block to be built, a long run
 * @throws {DevchainError} `NOT_FOUND` for an unknown block, `INVALID_PARAMS` for contradictory fees or overrides, the
 *   executor's error when the message cannot begin
 */
export function call(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  options?: CallOptions,
): MaybePromise<Outcome> {
  return whenThere(contextAt(chain, reference, options), (given) => {
    const { context, message } = calledOn(given, request, options?.blockOverrides)
    return runMessage(context, message, options)
  })
}

export interface CallBundle {
  readonly transactions?: readonly CallRequest[] | undefined
  readonly blockOverrides?: BlockOverrides | undefined
}

/** Each message runs on the state that the ones before left. One invalid message fails them all, as in `call`. */
export async function callMany(
  chain: Chain,
  bundles: readonly CallBundle[],
  reference: BlockReference,
  options?: Omit<CallOptions, 'blockOverrides'>,
): Promise<Outcome[][]> {
  const results: Outcome[][] = []
  let world: World | undefined
  const yieldIfDue = yielder()
  for (const { transactions = [], blockOverrides } of bundles) {
    const context = await contextAt(chain, reference, { ...options, blockOverrides })
    const outcomes: Outcome[] = []
    for (const request of transactions) {
      throwIfCancelled(options?.cancellation)
      const current = { ...context, world: world ?? context.world }
      const called = calledOn(current, request, blockOverrides)
      const outcome = await runMessage(called.context, called.message, options)
      world = outcome.world
      outcomes.push(outcome)
      await yieldIfDue()
    }
    results.push(outcomes)
  }
  return results
}

/** As `executionError`, with what the run says of its cause. */
export function failureOfCall(
  failure: Failure,
  { blockGas, output, consoleLines }: Outcome,
): DevchainError {
  const cap = describeCap(failure.reason, blockGas)
  const reason = cap === undefined ? failure.reason : `${failure.reason}: ${cap}`
  return executionError({ ...failure, reason }, output, consoleLines)
}

/**
 * @param lines console output; none where the transaction's log entry shows it
 * @returns `EXECUTION_REVERTED` or `EXECUTION_HALTED`, `data` the raw output as hex
 */
export function executionError(
  { kind, reason }: Failure,
  output: Uint8Array,
  lines: readonly ConsoleLine[] = [],
  facts?: ErrorFacts,
): DevchainError {
  const word = kind === 'revert' ? 'EXECUTION_REVERTED' : 'EXECUTION_HALTED'
  const message = EXECUTION_ERROR + reason
  const printed = lines.map((line) => line.text)
  return new ExecutionError(word, message, hexFromBytes(output), printed, facts)
}
