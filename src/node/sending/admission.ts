// Admission to the pool: the checks run in the order in which callers see their errors.
import { DevchainError } from '../../core/errors.ts'
import {
  isImpersonated as hasNoSignature,
  type Transaction,
} from '../../protocol/transactions/transaction.ts'
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
  requireUnusedNonce,
} from '../../protocol/transactions/transactionrules.ts'
import { type Account, accountAt, emptyAccount } from '../../state/world.ts'
import { isImpersonated } from '../accounts/accounts.ts'
import { requirePurpose } from '../calls/request.ts'
import { headOf, transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { type NextRules, nextBlobFee, nextRules } from '../mining/environment.ts'
import { transactionGasCap } from '../mining/limits.ts'
import { offeredPrice } from '../mining/pricedout.ts'
import { type Conditions, requireConditions } from '../pool/conditions.ts'
import {
  nextNonce,
  POOL_LIMIT,
  type Pool,
  pooledByHash,
  pooledByNonce,
  poolFull,
  withTransaction,
} from '../pool/pool.ts'

interface AdmissionContext {
  readonly state: ChainState
  readonly now: number
  readonly rules: NextRules
  readonly account: Account | undefined
  readonly sender: Account
}

/** Percent by which a replacement must raise the fees. */
const PRICE_BUMP = 10n

/** First what is wrong with the transaction itself, then with the present state. */
const CHECKS: readonly ((context: AdmissionContext, transaction: Transaction) => void)[] = [
  checkUnknown,
  ({ state }, transaction) => requireChainId(transaction, state.config.chainId),
  ({ rules }, transaction) => requireType(transaction, rules.hardfork),
  (_, transaction) => requireAuthorizations(transaction),
  ({ rules }, transaction) => requireBlobs(transaction, rules.hardfork, rules.blobRules),
  ({ state, rules }, transaction) =>
    requireInitCodeSize(transaction, rules.hardfork, state.config.options.codeSizeLimit),
  ({ state }, transaction) => {
    if (state.config.behaviour.creationsNeedData) requirePurpose(transaction)
  },
  ({ rules }, transaction) => requireIntrinsicGas(transaction, rules.hardfork),
  checkGasLimit,
  (_, transaction) => requireTipWithinCap(transaction),
  checkFeeCap,
  checkLeastPrice,
  checkSender,
  checkNonce,
  ({ account }, transaction) => requireFunds(transaction, account),
  checkReplacement,
  checkBlobReplacement,
  checkRoom,
]

/**
 * A transaction with a nonce gap may wait until the gap is filled.
 * @param conditions must already hold for the next block
 * @throws {DevchainError} with the word of the first check that fails
 */
export function admit(
  state: ChainState,
  transaction: Transaction,
  now: number,
  conditions?: Conditions,
): Pool {
  const rules = nextRules(state, now)
  const { world } = headOf(state.tree)
  const account = accountAt(world, transaction.from)
  const sender = account ?? emptyAccount(transaction.from)
  const context: AdmissionContext = { state, now, rules, account, sender }
  for (const check of CHECKS) check(context, transaction)
  if (conditions !== undefined) requireConditions(conditions, world, rules)
  return withTransaction(state.pool, transaction, conditions)
}

function checkUnknown({ state, sender }: AdmissionContext, { hash, nonce }: Transaction): void {
  const place = transactionPlace(state.tree, hash)
  if (place !== undefined) {
    const { number } = place.record.block.header
    const message = `already known: ${hash} is in block ${number}`
    throw new DevchainError('ALREADY_KNOWN', message, undefined, {
      hash,
      number,
      given: nonce,
      next: sender.nonce,
      mayWait: isInstant(state.mining) ? 0 : 1,
    })
  }
  if (pooledByHash(state.pool, hash) !== undefined) {
    const message = `already known: ${hash} is in the pool`
    throw new DevchainError('ALREADY_KNOWN', message, undefined, { hash })
  }
}

function checkGasLimit({ state, rules }: AdmissionContext, { gasLimit }: Transaction): void {
  const cap = transactionGasCap(state.config, rules.hardfork)
  if (cap !== undefined && gasLimit > cap) {
    const message = `transaction gas limit too high: have ${gasLimit}, the cap is ${cap}`
    const facts = { given: gasLimit, most: cap }
    throw new DevchainError('GAS_LIMIT_TOO_HIGH', message, undefined, facts)
  }
  requireBlockGas(gasLimit, state.settings.blockGasLimit)
}

/** The reader already accepted an unsigned one: another node may impersonate the account. */
function checkSender({ state, sender, now }: AdmissionContext, transaction: Transaction): void {
  const { from } = transaction
  const needsNoKey = hasNoSignature(transaction) || isImpersonated(state.accounts, from, now)
  requireKeyedSender(from, sender, needsNoKey)
}

/** Where gaps may not wait, instant mining needs the sender's next nonce. */
function checkNonce({ state, sender }: AdmissionContext, transaction: Transaction): void {
  const mayWait = state.config.behaviour.gapsWait || !isInstant(state.mining)
  if (mayWait) requireUnusedNonce(transaction, sender, mayWait)
  else {
    const nonce = nextNonce(state.pool, headOf(state.tree).world, sender.address)
    requireNextNonce(transaction, { ...sender, nonce })
  }
}

function checkFeeCap({ state, rules }: AdmissionContext, transaction: Transaction): void {
  // where blocks come later the base fee may fall until then
  const isUrgent = isInstant(state.mining)
  if (isUrgent || state.config.behaviour.poolAsksForBaseFee) {
    requireBaseFee(transaction, rules.baseFee)
  }
  if (isUrgent && transaction.type === 3) requireBlobFee(transaction, nextBlobFee(state, rules))
}

function checkLeastPrice({ state, rules }: AdmissionContext, transaction: Transaction): void {
  const { minGasPrice } = state.settings
  const offered = offeredPrice(transaction, rules.hardfork)
  if (offered >= minGasPrice) return
  if (state.config.behaviour.cheapOnesWait && !isInstant(state.mining)) return
  const message = `transaction underpriced: offers ${offered} wei per gas, the minimum is ${minGasPrice}`
  const facts = { given: offered, least: minGasPrice }
  throw new DevchainError('TRANSACTION_UNDERPRICED', message, undefined, facts)
}

/** All fees must rise, else a replacement could lower what a block pays. */
function checkReplacement({ state }: AdmissionContext, transaction: Transaction): void {
  const { from, nonce, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const old = pooledByNonce(state.pool, from, nonce)?.transaction
  if (old === undefined) return
  const { replacementsRaiseTip } = state.config.behaviour
  if (!replacementsRaiseTip && maxFeePerGas > old.maxFeePerGas) return
  const fee = leastReplacement(old.maxFeePerGas)
  const tip = leastReplacement(old.maxPriorityFeePerGas)
  const isTipRaised = maxPriorityFeePerGas >= tip || old.maxPriorityFeePerGas === 0n
  if (replacementsRaiseTip && maxFeePerGas >= fee && isTipRaised) return
  const message = `replacement transaction underpriced: the pending transaction with nonce ${nonce} has fee ${old.maxFeePerGas} and tip ${old.maxPriorityFeePerGas}, its replacement needs at least ${fee} and ${tip}, got ${maxFeePerGas} and ${maxPriorityFeePerGas}`
  const facts = { nonce, fee, tip, given: maxFeePerGas, givenTip: maxPriorityFeePerGas }
  throw new DevchainError('REPLACEMENT_UNDERPRICED', message, undefined, facts)
}

function checkBlobReplacement(
  { state }: AdmissionContext,
  { from, nonce, blobs }: Transaction,
): void {
  if (!state.config.behaviour.replacementsRaiseTip) return
  const old = blobs && pooledByNonce(state.pool, from, nonce)?.transaction.blobs
  if (old === undefined || blobs === undefined) return
  const least = leastReplacement(old.maxFeePerBlobGas)
  if (blobs.maxFeePerBlobGas >= least) return
  const message = `replacement transaction underpriced: the pending transaction with nonce ${nonce} has ${old.maxFeePerBlobGas} wei per blob gas, its replacement needs at least ${least}, got ${blobs.maxFeePerBlobGas}`
  throw new DevchainError('REPLACEMENT_UNDERPRICED', message)
}

/** 10 % more, rounded up; from 0 anything positive. */
export function leastReplacement(price: bigint): bigint {
  return price === 0n ? 1n : (price * (100n + PRICE_BUMP) + 99n) / 100n
}

function checkRoom({ state }: AdmissionContext, { from, nonce }: Transaction): void {
  if (state.pool.size < POOL_LIMIT || pooledByNonce(state.pool, from, nonce) !== undefined) return
  throw poolFull()
}
