// Runs transactions and calls again for their traces.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { Tracer } from '../../evm/executor.ts'
import { recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordTouched } from '../../evm/tracers/touched.ts'
import { replayOne, TraceBudget } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { Rerun } from '../../node/chain/failedrun.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import type { TracedTransaction } from './tree.ts'

/** @throws {DevchainError} `NOT_FOUND` if no block of the chain has it, `LIMIT_EXCEEDED` for too many calls */
export async function tracedMined(chain: Chain, hash: Hash): Promise<TracedTransaction> {
  const place = transactionPlace(chain.state.tree, hash)
  if (place === undefined) {
    const message = `transaction ${hash} not found: it is in no block of the chain`
    throw new DevchainError('NOT_FOUND', message)
  }
  const { tracer: calls, top } = recordAllCalls()
  const { tracer: touching, touched } = recordTouched([])
  const tracer: Tracer = combineTracers([calls, touching])
  const { before, outcome } = await replayOne(chain, place, (_, i) =>
    i === place.index ? tracer : undefined,
  )
  const whole = { ...top(), gasUsed: outcome.gasUsed }
  return { top: whole, touched, before, after: outcome.world }
}

/** Runs a call again and keeps its call frames; its changes are discarded. */
export async function tracedRerun(rerun: Rerun): Promise<TracedTransaction> {
  const { tracer, top } = recordAllCalls()
  const world = await rerun(tracer)
  return { top: top(), touched: new Map(), before: world, after: world }
}

function recordAllCalls(): ReturnType<typeof recordCalls> {
  return recordCalls({ withLogs: true, keep: new TraceBudget(Number.POSITIVE_INFINITY).keep })
}
