// Runs signed transactions in order in a block of their own, as a miner would simulate a bundle.
import { DevchainError } from '../../core/errors.ts'
import { yielder } from '../../core/yield.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import type { BlockEnvironment, Outcome, TransactionJob } from '../../evm/executor.ts'
import { blobGasOf, effectiveTip } from '../../protocol/fees.ts'
import { BLOCK_SECONDS } from '../../protocol/timestamps.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { requireBlobRoom } from '../../protocol/transactions/transactionrules.ts'
import { balanceAt } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import { withRerun } from '../chain/failedrun.ts'
import { stateAt } from '../chain/lookup.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { BlockReference } from '../ledger/references.ts'
import { blockEnvironment, environmentAfter } from '../mining/environment.ts'
import { callLimits } from '../mining/limits.ts'
import type { BlockOverrides } from './overrides.ts'

export interface Bundle
  extends Pick<BlockOverrides, 'coinbase' | 'gasLimit' | 'difficulty' | 'baseFee'> {
  readonly transactions: readonly Transaction[]
  readonly number: bigint
  readonly on: BlockReference
  /** Seconds; by default 12 after the block before. */
  readonly timestamp?: bigint | undefined
}

export interface BundleRun {
  readonly transaction: Transaction
  readonly outcome: Outcome
  readonly coinbaseDiff: bigint
  /** The part of `coinbaseDiff` that is tips for gas, in wei. */
  readonly gasFees: bigint
}

export interface BundleAnswer {
  readonly base: BlockRecord
  readonly runs: readonly BundleRun[]
}

export async function callBundle(
  chain: Chain,
  bundle: Bundle,
  cancellation: Cancellation,
): Promise<BundleAnswer> {
  const { state, executor } = chain
  const base = await stateAt(chain, bundle.on, cancellation)
  const block = environmentOf(state, base, bundle)
  const limits = callLimits(state.config)
  const runs: BundleRun[] = []
  let { world } = base
  let gasLeft = block.gasLimit
  let blobGasUsed = 0n
  const yieldIfDue = yielder()
  for (const transaction of bundle.transactions) {
    throwIfCancelled(cancellation)
    if (transaction.gasLimit > gasLeft) {
      const { hash, gasLimit } = transaction
      const message = `exceeds block gas limit: transaction ${hash} needs ${gasLimit} gas, the bundle's block has ${gasLeft} left`
      throw new DevchainError('EXCEEDS_BLOCK_GAS_LIMIT', message)
    }
    requireBlobRoom(transaction, blobGasUsed, block.hardfork, block.blobRules)
    const job: TransactionJob = { world, block, transaction, limits, cancellation }
    const outcome = await executor.transact(job)
    if (outcome.failure !== undefined) {
      withRerun(outcome, async (tracer) => {
        await executor.transact({ ...job, tracer })
        return job.world
      })
    }
    const coinbaseDiff = balanceAt(outcome.world, block.coinbase) - balanceAt(world, block.coinbase)
    const gasFees = outcome.gasUsed * effectiveTip(transaction, block.baseFee)
    runs.push({ transaction, outcome, coinbaseDiff, gasFees })
    world = outcome.world
    gasLeft -= outcome.gasUsed
    blobGasUsed += blobGasOf(transaction)
    await yieldIfDue()
  }
  return { base, runs }
}

function environmentOf(state: ChainState, base: BlockRecord, bundle: Bundle): BlockEnvironment {
  const { header, hash } = base.block
  const past = blockEnvironment(state, base)
  return environmentAfter(state, header, {
    number: bundle.number,
    timestamp: bundle.timestamp ?? header.timestamp + BLOCK_SECONDS,
    coinbase: bundle.coinbase ?? past.coinbase,
    gasLimit: bundle.gasLimit ?? past.gasLimit,
    difficulty: bundle.difficulty ?? past.difficulty,
    prevRandao: past.prevRandao,
    baseFee: bundle.baseFee,
    blockHash: (asked) => (asked === header.number ? hash : past.blockHash(asked)),
  })
}
