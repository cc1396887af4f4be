// Checks jobs and runs them on the machine that suits them.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import { nextTurn } from '../../core/yield.ts'
import { OPTIONS } from '../../options/table.ts'
import {
  areBlobsFree,
  blobBaseFeeIn,
  effectiveGasPrice,
  effectiveTip,
  isFree,
} from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import * as rules from '../../protocol/transactions/transactionrules.ts'
import { accountAt, emptyAccount } from '../../state/world.ts'
import { cancelled, throwIfCancelled } from '../cancellation.ts'
import type {
  BlockEnvironment,
  CallJob,
  ExecutorOptions,
  Jobs,
  Outcome,
  TransactionJob,
} from '../executor.ts'
import { type MachineJob, memoryForGas, type RunContext } from '../machine.ts'
import { beginBlock, endBlock } from '../system.ts'
import {
  applyMessage,
  type CheckedMessage,
  type RunSetting,
  type SenderTerms,
} from '../transition.ts'
import { Tiers, tiersOf } from './tiers.ts'

/** @param isClosed true cancels all running jobs */
export function createJobs(
  {
    evm = OPTIONS.evm.default,
    memoryLimit = OPTIONS.memoryLimit.default,
    onBug = console.error,
  }: ExecutorOptions,
  isClosed: () => boolean,
): Jobs {
  const machines = new Tiers(tiersOf(evm), onBug)
  // the reference does not trace
  const tracing = evm === 'reference' ? new Tiers(tiersOf('interpreter'), onBug) : undefined
  return createJobsOn({ machines, tracing, memoryLimit, isClosed, onBug })
}

export function createJobsOn(context: RunContext): Jobs {
  return {
    transact: (job) => transact(context, job),
    call: (job) => call(context, job),
    beginBlock: (job) => beginBlock(context, job),
    endBlock: (job) => endBlock(context, job),
    findWrongBlob: async (sidecar) => {
      // loaded on demand, as few chains use blobs
      const { findWrongBlob } = await import('../precompiles/blobproofs.ts')
      return findWrongBlob(sidecar, pauseOf(context, {}))
    },
    rest: (cancellation) => pauseOf(context, { cancellation })(),
  }
}

function transact(context: RunContext, job: TransactionJob): MaybePromise<Outcome> {
  checkTransaction(job)
  const { block, transaction } = job
  const price = effectiveGasPrice(transaction, block.baseFee)
  const tip = effectiveTip(transaction, block.baseFee)
  const blobPrice = blobPriceOf(transaction, block)
  return apply(context, job, transaction, { nonce: transaction.nonce, price, tip, blobPrice }, true)
}

/**
 * A free call ignores the base fee, but BASEFEE still returns it. A given nonce replaces the sender's for the address of a
 * creation.
 */
function call(context: RunContext, job: CallJob): MaybePromise<Outcome> {
  checkMessage(job)
  const { world, block, message } = job
  const price = isFree(message) ? 0n : effectiveGasPrice(message, block.baseFee)
  // below the base fee the miner gets nothing
  const tip = price < block.baseFee ? 0n : price - block.baseFee
  const nonce = message.nonce ?? accountAt(world, message.from)?.nonce ?? 0n
  const blobPrice = areBlobsFree(message) ? 0n : blobPriceOf(message, block)
  return apply(context, job, message, { nonce, price, tip, blobPrice }, job.isOfBlock === true)
}

type JobTraits = Omit<CallJob, 'message'> & Pick<TransactionJob, 'draft'>

function apply(
  context: RunContext,
  job: JobTraits,
  message: CheckedMessage,
  terms: SenderTerms,
  isOfBlock: boolean,
): MaybePromise<Outcome> {
  const forGas = job.limits?.memory === 'gas' ? memoryForGas(message.gasLimit) : 0
  const setting: RunSetting = {
    base: job.draft ?? job.world,
    block: job.block,
    limits: job.limits,
    movedPrecompiles: job.movedPrecompiles,
    memoryLimit: Math.max(context.memoryLimit, forGas),
    reportsAccess: job.reportsAccess === true,
    reportsRead: isOfBlock,
    tracer: job.tracer,
    pause: pauseOf(context, job),
    onBug: context.onBug,
  }
  const { machines, tracing = machines } = context
  const chosen = job.tracer === undefined ? machines : tracing
  return chosen.run(codeHashOf(job, message), (machine) =>
    applyMessage(machine, setting, message, terms),
  )
}

function codeHashOf({ world, draft }: JobTraits, { to, data }: CheckedMessage): () => Hash {
  const accountOf = (address: Address) => draft?.account(address) ?? accountAt(world, address)
  return () => (to === null ? undefined : accountOf(to)?.codeHash) ?? keccakHash(data)
}

function pauseOf(
  { isClosed }: RunContext,
  { tracer, cancellation }: Pick<CallJob, 'tracer' | 'cancellation'>,
): NonNullable<MachineJob['pause']> {
  return async (gasUsed) => {
    await nextTurn()
    if (isClosed()) throw cancelled()
    throwIfCancelled(cancellation, gasUsed)
    await tracer?.onPause?.()
  }
}

/**
 * Checks type, chain id, nonce, sender, fees, blobs, authorizations, funds, block gas limit, intrinsic gas and init code.
 * @throws {DevchainError} of the first check that fails
 */
function checkTransaction({ world, draft, block, transaction, limits }: TransactionJob): void {
  const { from, r, s, gasLimit } = transaction
  const account = draft === undefined ? accountAt(world, from) : draft.account(from)
  const sender = account ?? emptyAccount(from)
  // an impersonated transaction carries the sender's address in place of a signature (`impersonate`)
  const isImpersonated = r === s && r === BigInt(from)
  rules.requireType(transaction, block.hardfork)
  rules.requireChainId(transaction, block.chainId)
  rules.requireNextNonce(transaction, sender)
  rules.requireKeyedSender(from, sender, isImpersonated)
  rules.requireTipWithinCap(transaction)
  rules.requireBaseFee(transaction, block.baseFee)
  rules.requireBlobs(transaction, block.hardfork, block.blobRules)
  rules.requireBlobFee(transaction, blobPriceOf(transaction, block))
  rules.requireAuthorizations(transaction)
  rules.requireFunds(transaction, account)
  rules.requireBlockGas(gasLimit, block.gasLimit)
  rules.requireIntrinsicGas(transaction, block.hardfork)
  rules.requireInitCodeSize(transaction, block.hardfork, limits?.codeSize)
}

/** As `checkMessageAlone`; its errors also name sender and gas. */
function checkMessage(job: CallJob): void {
  try {
    checkMessageAlone(job)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    const { word, message, data, facts } = error
    const { from, gasLimit } = job.message
    throw new DevchainError(word, message, data, { from, gasLimit, ...facts })
  }
}

/**
 * Applies the checks of geth's `eth_call`: price (0 is free), blobs and their price (0 is free), funds, intrinsic gas, init
 * code size. Ignores nonce and code of the sender, and the block's gas limit.
 * @throws {DevchainError} of the first check that fails
 */
function checkMessageAlone(job: CallJob): void {
  const { world, block, message, limits } = job
  if (!isFree(message)) {
    rules.requireTipWithinCap(message)
    if (job.ignoresBaseFee !== true) rules.requireBaseFee(message, block.baseFee)
  }
  if (message.blobs !== undefined) {
    rules.requireBlobs({ ...message, type: 3 }, block.hardfork, block.blobRules)
    if (!areBlobsFree(message)) rules.requireBlobFee(message, blobPriceOf(message, block))
  }
  rules.requireFunds(message, accountAt(world, message.from))
  rules.requireIntrinsicGas(message, block.hardfork)
  rules.requireInitCodeSize(message, block.hardfork, limits?.codeSize)
}

function blobPriceOf({ blobs }: Pick<Transaction, 'blobs'>, block: BlockEnvironment): bigint {
  return blobs === undefined ? 0n : blobBaseFeeIn(block)
}
