// From a job to an outcome: checks first, then the run on a machine.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DevchainError } from '../core/errors.ts'
import { effectiveGasPrice, effectiveTip } from '../protocol/fees.ts'
import { accountAt } from '../state/world.ts'
import { blobPriceOf, checkMessage, checkTransaction, isFree } from './checks.ts'
import type { CallJob, Executor, Outcome, TransactionJob } from './executor.ts'
import type { MachineJob, Workshop } from './machine.ts'
import { beginBlock, endBlock } from './system.ts'
import { applyMessage, type RunSetting } from './transition.ts'

/** An executor on a machine. */
export function createExecutorOn(workshop: Workshop): Executor {
  return {
    transact: async (job) => transact(workshop, job),
    call: async (job) => call(workshop, job),
    beginBlock: (job) => beginBlock(workshop, job),
    endBlock: (job) => endBlock(workshop, job),
  }
}

function transact(workshop: Workshop, job: TransactionJob): Outcome | Promise<Outcome> {
  checkTransaction(job)
  const { world, block, transaction } = job
  const price = effectiveGasPrice(transaction, block.baseFee)
  const tip = effectiveTip(transaction, block.baseFee)
  const blobPrice = blobPriceOf(transaction, block)
  const message = { ...transaction, price, tip, blobPrice }
  return applyMessage(settingOf(workshop, job), world, block, message)
}

/**
 * A free call pays nothing to anybody, yet BASEFEE tells the block's base fee, so that a contract that computes with it
 * gives the answer it will give in the block. A nonce that is given stands in for the sender's own, which decides the
 * address of a created contract.
 */
function call(workshop: Workshop, job: CallJob): Outcome | Promise<Outcome> {
  checkMessage(job)
  const { world, block, message } = job
  const free = isFree(message)
  const price = free ? 0n : effectiveGasPrice(message, block.baseFee)
  const tip = free ? 0n : effectiveTip(message, block.baseFee)
  const nonce = message.nonce ?? accountAt(world, message.from)?.nonce ?? 0n
  return applyMessage(settingOf(workshop, job), world, block, { ...message, nonce, price, tip })
}

function settingOf(
  { machine, memoryLimit }: Workshop,
  job: Pick<CallJob, 'limits' | 'movedPrecompiles' | 'tracer' | 'reportsAccess' | 'isAwaited'>,
): RunSetting {
  return {
    machine,
    memoryLimit,
    limits: job.limits,
    movedPrecompiles: job.movedPrecompiles,
    reportsAccess: job.reportsAccess ?? false,
    tracer: job.tracer,
    pause: pauseOf(job),
  }
}

/** Lets timers and sockets have their turn during a long run, and ends one that nobody waits for any more. */
function pauseOf({
  tracer,
  isAwaited,
}: Pick<CallJob, 'tracer' | 'isAwaited'>): MachineJob['pause'] {
  return async () => {
    await nextTurn()
    if (isAwaited?.() === false) {
      throw new DevchainError('ABANDONED', 'the execution was given up: nobody waits for its end')
    }
    await tracer?.onPause?.()
  }
}
