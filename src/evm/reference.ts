// The reference tier: jobs run on @ethereumjs/evm. Slow and complete; loaded when the first job comes.
import { effectiveGasPrice, effectiveTip } from '../protocol/fees.ts'
import { accountAt } from '../state/world.ts'
import { blobPriceOf, checkMessage, checkTransaction, isFree } from './checks.ts'
import { EnginePool } from './engine.ts'
import type { CallJob, Executor, Outcome, TransactionJob } from './executor.ts'
import { beginBlock, endBlock } from './system.ts'
import { applyMessage } from './transition.ts'

/** An executor with engines of its own. */
export function createReferenceExecutor(): Executor {
  const engines = new EnginePool()
  return {
    transact: (job) => transact(engines, job),
    call: (job) => call(engines, job),
    beginBlock: (job) => beginBlock(engines, job),
    endBlock: (job) => endBlock(engines, job),
  }
}

async function transact(engines: EnginePool, job: TransactionJob): Promise<Outcome> {
  checkTransaction(job)
  const { world, block, transaction, limits } = job
  const price = effectiveGasPrice(transaction, block.baseFee)
  const tip = effectiveTip(transaction, block.baseFee)
  const blobPrice = blobPriceOf(transaction, block)
  return engines.use({ hardfork: block.hardfork, chainId: block.chainId, limits }, (engine) =>
    applyMessage(engine, world, block, { ...transaction, price, tip, blobPrice }, job),
  )
}

/**
 * A free call pays nothing to anybody, yet BASEFEE tells the block's base fee, so that a contract that computes with it
 * gives the answer it will give in the block. A nonce that is given stands in for the sender's own, which decides the
 * address of a created contract.
 */
async function call(engines: EnginePool, job: CallJob): Promise<Outcome> {
  checkMessage(job)
  const { world, block, message, limits } = job
  const free = isFree(message)
  const price = free ? 0n : effectiveGasPrice(message, block.baseFee)
  const tip = free ? 0n : effectiveTip(message, block.baseFee)
  const nonce = message.nonce ?? accountAt(world, message.from)?.nonce ?? 0n
  return engines.use({ hardfork: block.hardfork, chainId: block.chainId, limits }, (engine) =>
    applyMessage(engine, world, block, { ...message, nonce, price, tip }, job),
  )
}
