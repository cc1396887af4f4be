// Adds Solidity stacks to failed executions, if the user's source is known.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { Outcome } from '../../evm/executor.ts'
import type { SourceExplanation } from '../../evm/reasons.ts'
import { runOfMined } from '../../node/calls/replay.ts'
import { type Rerun, rerunOf } from '../../node/chain/failedrun.ts'
import type { Project } from '../../project/project.ts'
import type { DispatcherOptions } from '../../rpc/dispatch.ts'
import type { MethodContext } from '../common/context.ts'
import { failureOf } from '../compat/failure.ts'

/** A run with the reason and Solidity stack of its failure, one line each; clients ignore it. */
export type Explained<T> = T & { readonly solidityStack?: readonly string[] | undefined }

/** Failures explained per reply: each runs again. */
const EXPLAINED = 10

/** Explains the first failed runs, if there is a project. */
export async function withStacks<T extends { readonly outcome: Outcome }>(
  context: Pick<MethodContext, 'project' | 'options'>,
  runs: readonly T[],
): Promise<readonly Explained<T>[]> {
  const { options } = context
  const { project } = context.project
  const failed = runs.filter(({ outcome }) => outcome.failure !== undefined).slice(0, EXPLAINED)
  if (project === undefined || options.plainErrors || failed.length === 0) return runs
  const stacks = new Map<T, readonly string[] | undefined>()
  for (const run of failed) {
    const rerun = rerunOf(run.outcome)
    const reason = run.outcome.failure?.reason ?? ''
    const known = rerun && (await explanationOf(project, rerun, reason))
    if (known !== undefined) stacks.set(run, known.lines)
  }
  return runs.map((run) => ({ ...run, solidityStack: stacks.get(run) }))
}

/** Undefined also for runs that cannot be repeated, or take too long. */
async function explanationOf(
  project: Project,
  rerun: Rerun,
  reason: string,
): Promise<SourceExplanation | undefined> {
  try {
    return await project.explain(rerun, reason)
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
    return explanationOf(project, rerun, reason).catch((bug: unknown) => void onBug(bug))
  }
}
