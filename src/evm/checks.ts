// The checks before a transaction or call runs, in the order in which callers see their errors.
import { DevchainError } from '../core/errors.ts'
import { areBlobsFree, blobBaseFeeIn, isFree } from '../protocol/fees.ts'
import type { Transaction } from '../protocol/transactions/transaction.ts'
import {
  requireAuthorizations,
  requireBaseFee,
  requireBlobFee,
  requireBlobs,
  requireBlockGas,
  requireChainId,
  requireFunds,
  requireInitCodeSize,
  requireIntrinsicGas,
  requireKeyedSender,
  requireNextNonce,
  requireTipWithinCap,
  requireType,
} from '../protocol/transactions/transactionrules.ts'
import { accountAt, emptyAccount } from '../state/world.ts'
import type { BlockEnvironment, CallJob, TransactionJob } from './executor.ts'

/**
 * Checks type, chain id, nonce, sender, fees, blobs, authorizations, funds, block gas limit, intrinsic gas and init code.
 * @throws {DevchainError} of the first check that fails
 */
export function checkTransaction({
  world,
  draft,
  block,
  transaction,
  limits,
}: TransactionJob): void {
  const { from, r, s, gasLimit } = transaction
  const account = draft === undefined ? accountAt(world, from) : draft.account(from)
  const sender = account ?? emptyAccount(from)
  // an impersonated transaction carries the sender's address in place of a signature (`impersonate`)
  const isImpersonated = r === s && r === BigInt(from)
  requireType(transaction, block.hardfork)
  requireChainId(transaction, block.chainId)
  requireNextNonce(transaction, sender)
  requireKeyedSender(from, sender, isImpersonated)
  requireTipWithinCap(transaction)
  requireBaseFee(transaction, block.baseFee)
  requireBlobs(transaction, block.hardfork, block.blobRules)
  requireBlobFee(transaction, blobPriceOf(transaction, block))
  requireAuthorizations(transaction)
  requireFunds(transaction, account)
  requireBlockGas(gasLimit, block.gasLimit)
  requireIntrinsicGas(transaction, block.hardfork)
  requireInitCodeSize(transaction, block.hardfork, limits?.codeSize)
}

/** As `checkMessageAlone`; its errors also name sender and gas. */
export function checkMessage(job: CallJob): void {
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
    requireTipWithinCap(message)
    if (job.ignoresBaseFee !== true) requireBaseFee(message, block.baseFee)
  }
  if (message.blobs !== undefined) {
    requireBlobs({ ...message, type: 3 }, block.hardfork, block.blobRules)
    if (!areBlobsFree(message)) requireBlobFee(message, blobPriceOf(message, block))
  }
  requireFunds(message, accountAt(world, message.from))
  requireIntrinsicGas(message, block.hardfork)
  requireInitCodeSize(message, block.hardfork, limits?.codeSize)
}

export function blobPriceOf(
  { blobs }: Pick<Transaction, 'blobs'>,
  block: BlockEnvironment,
): bigint {
  return blobs === undefined ? 0n : blobBaseFeeIn(block)
}
