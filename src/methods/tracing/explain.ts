// Adds Solidity stacks to failed executions, if the user's source is known.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { Outcome } from '../../evm/executor.ts'
import { runOfMined } from '../../node/calls/replay.ts'
import { rerunOf } from '../../node/chain/failedrun.ts'
import type { Project } from '../../project/project.ts'
import type { DispatcherOptions } from '../../rpc/dispatch.ts'
import { type MethodContext, printLines } from '../common/context.ts'
import { failureOf } from '../compat/failure.ts'

/** A run with the reason and Solidity stack of its failure, one line each; clients ignore it. */
export type Explained<T> = T & { readonly solidityStack?: readonly string[] | undefined }

/** Failures explained per reply: each runs again. */
export const MOST_EXPLAINED = 10

/** Adds the console lines of runs to those of the call, and explains the first failed ones, if there is a project. */
export async function reported<T extends { readonly outcome: Outcome }>(
  context: Pick<MethodContext, 'project' | 'options' | 'printed'>,
  runs: readonly T[],
): Promise<readonly Explained<T>[]> {
  for (const { outcome } of runs) printLines(context, outcome)
  const { project } = context.project
  const failed = runs.filter(({ outcome }) => outcome.failure).slice(0, MOST_EXPLAINED)
  if (project === undefined || context.options.plainErrors || failed.length === 0) return runs
  const stacks = new Map<T, readonly string[] | undefined>()
  for (const run of failed) stacks.set(run, await stackOf(project, run.outcome))
  return runs.map((run) => ({ ...run, solidityStack: stacks.get(run) }))
}

/**
 * The reason of a failed run and its Solidity stack, in lines; undefined also if it cannot be repeated, or takes too long.
 * @param mined the hash of a transaction in a block
 */
export async function stackOf(
  project: Project,
  outcome: Outcome,
  mined?: Hash,
): Promise<readonly string[] | undefined> {
  if (mined !== undefined) return unlessRefused(project.explainMined(mined))
  const rerun = rerunOf(outcome)
  const reason = outcome.failure?.reason ?? ''
  return rerun && (await unlessRefused(project.explain(rerun, reason)))?.lines
}

async function unlessRefused<T>(explanation: Promise<T>): Promise<T | undefined> {
  try {
    return await explanation
  } catch (error) {
    if (error instanceof DevchainError) return undefined
    throw error
  }
}

/**
 * Explains failed executions by running them again, if there is a project.
 * @param onBug gets exceptions of that; the client still gets the error
 */
export function explaining(
  onBug: (error: unknown) => void,
): NonNullable<DispatcherOptions<MethodContext>['explain']> {
  return (error, { project: { project }, chain }) => {
    if (project === undefined || !(error instanceof DevchainError)) return undefined
    const failure = failureOf(error)
    if (failure === undefined) return undefined
    const { hash, reason } = failure
    const rerun = hash === undefined ? rerunOf(error) : runOfMined(chain, hash as Hash)
    if (rerun === undefined) return undefined
    return unlessRefused(project.explain(rerun, reason)).catch((bug: unknown) => void onBug(bug))
  }
}
