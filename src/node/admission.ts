// Which transactions may wait in the pool: each check in the order in which callers are told about them.
import { DevchainError } from '../core/errors.ts'
import { floorDataGas, intrinsicGas } from '../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import type { Transaction, TransactionType } from '../protocol/transaction.ts'
import { accountAt, balanceAt, codeAt, nonceAt } from '../state/world.ts'
import { isImpersonated } from './accounts.ts'
import { headOf, transactionPlace } from './blocktree.ts'
import type { ChainState } from './chainstate.ts'
import { nextRules } from './miner.ts'
import { isInstant } from './mining.ts'
import { POOL_LIMIT, type Pool, pooledByHash, pooledByNonce, withTransaction } from './pool.ts'

/** What the checks look at besides the transaction. */
interface Gate {
  readonly state: ChainState
  readonly hardfork: Hardfork
  /** Wei per gas of the next block. */
  readonly baseFee: bigint
}

type Check = (gate: Gate, transaction: Transaction) => void

/** The fork that brought each type. */
const FORK_OF_TYPE: Readonly<Record<TransactionType, Hardfork>> = {
  0: 'frontier',
  1: 'berlin',
  2: 'london',
  4: 'prague',
}

/** Nonces stay below 2^64 - 1 (EIP-2681). */
const MAX_NONCE = 2n ** 64n - 2n

/** Bytes of deployed code (EIP-170). */
const CODE_SIZE_LIMIT = 24_576

/** First bytes of code that only names another account's code (EIP-7702). */
const DELEGATION_PREFIX = [0xef, 0x01, 0x00]

/** A new transaction must offer at least this much more than the one it replaces, in percent. */
const PRICE_BUMP = 10n

/** From what is wrong with the transaction alone to what is wrong with it now. */
const CHECKS: readonly Check[] = [
  checkUnknown,
  checkChainId,
  checkType,
  checkAuthorizations,
  checkInitCode,
  checkIntrinsicGas,
  checkGasLimit,
  checkTip,
  checkFeeCap,
  checkLeastPrice,
  checkSender,
  checkNonce,
  checkFunds,
  checkReplacement,
  checkRoom,
]

/**
 * The pool with `transaction` in it. Checked, in this order: not known already, chain id, type known to the fork,
 * authorization list, size of init code, intrinsic gas and calldata floor, gas limit, tip, fee cap (where a block would
 * be mined at once), least price, sender, nonce, funds, replacement, room in the pool. A nonce that leaves a gap is
 * welcome: the transaction waits until the gap is filled.
 * @param now wall time in milliseconds
 * @throws {DevchainError} with the word of the first check that fails
 */
export function admit(state: ChainState, transaction: Transaction, now: number): Pool {
  const { hardfork, baseFee } = nextRules(state, now)
  for (const check of CHECKS) check({ state, hardfork, baseFee }, transaction)
  return withTransaction(state.pool, transaction)
}

function checkUnknown({ state }: Gate, { hash }: Transaction): void {
  const place = transactionPlace(state.tree, hash)
  if (place !== undefined) {
    const { number } = place.record.block.header
    throw new DevchainError('ALREADY_KNOWN', `already known: ${hash} is in block ${number}`)
  }
  if (pooledByHash(state.pool, hash) !== undefined) {
    throw new DevchainError('ALREADY_KNOWN', `already known: ${hash} waits in the pool`)
  }
}

function checkChainId({ state }: Gate, { chainId }: Transaction): void {
  if (chainId === undefined || chainId === state.config.chainId) return
  const message = `invalid chain id for signer: have ${chainId} want ${state.config.chainId}`
  throw new DevchainError('WRONG_CHAIN_ID', message)
}

function checkType({ hardfork }: Gate, { type }: Transaction): void {
  const needed = FORK_OF_TYPE[type]
  if (isAtLeast(hardfork, needed)) return
  const message = `transaction type not supported: type ${type} needs hardfork ${needed}, the chain is at ${hardfork}`
  throw new DevchainError('TYPE_NOT_SUPPORTED', message)
}

function checkAuthorizations(_: Gate, { type, to, authorizationList }: Transaction): void {
  if (type !== 4) return
  if (authorizationList.length === 0) {
    const message =
      'empty authorization list: a type 4 transaction needs at least one authorization'
    throw new DevchainError('EMPTY_AUTHORIZATION_LIST', message)
  }
  if (to === null) {
    const message = 'transaction type not supported: a type 4 transaction cannot create a contract'
    throw new DevchainError('TYPE_NOT_SUPPORTED', message)
  }
}

function checkInitCode({ state, hardfork }: Gate, { to, data }: Transaction): void {
  if (to !== null || !isAtLeast(hardfork, 'shanghai')) return
  const limit = 2 * (state.config.codeSizeLimit ?? CODE_SIZE_LIMIT)
  if (data.length <= limit) return
  const message = `max initcode size exceeded: code size ${data.length}, limit ${limit}`
  throw new DevchainError('INIT_CODE_TOO_LARGE', message)
}

function checkIntrinsicGas({ hardfork }: Gate, transaction: Transaction): void {
  const { gasLimit } = transaction
  const intrinsic = intrinsicGas(transaction, hardfork)
  if (gasLimit < intrinsic) {
    const message = `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`
    throw new DevchainError('INTRINSIC_GAS_TOO_LOW', message)
  }
  const floor = floorDataGas(transaction, hardfork)
  if (gasLimit >= floor) return
  const message = `intrinsic gas too low: have ${gasLimit}, want ${floor}, the floor for this much calldata`
  throw new DevchainError('INTRINSIC_GAS_TOO_LOW', message)
}

function checkGasLimit({ state }: Gate, { gasLimit }: Transaction): void {
  const { transactionGasCap } = state.config
  if (transactionGasCap !== undefined && gasLimit > transactionGasCap) {
    const message = `transaction gas limit too high: have ${gasLimit}, the cap is ${transactionGasCap}`
    throw new DevchainError('GAS_LIMIT_TOO_HIGH', message)
  }
  const { blockGasLimit } = state.settings
  if (gasLimit <= blockGasLimit) return
  const message = `exceeds block gas limit: have ${gasLimit}, the block's limit is ${blockGasLimit}`
  throw new DevchainError('EXCEEDS_BLOCK_GAS_LIMIT', message)
}

function checkTip(_: Gate, { maxFeePerGas, maxPriorityFeePerGas }: Transaction): void {
  if (maxPriorityFeePerGas <= maxFeePerGas) return
  const message = `max priority fee per gas higher than max fee per gas: tip ${maxPriorityFeePerGas}, fee cap ${maxFeePerGas}`
  throw new DevchainError('TIP_ABOVE_FEE_CAP', message)
}

function checkFeeCap({ state, baseFee }: Gate, { maxFeePerGas }: Transaction): void {
  // where blocks come later the base fee may fall until then
  if (!isInstant(state.mining) || maxFeePerGas >= baseFee) return
  const message = `max fee per gas less than block base fee: fee cap ${maxFeePerGas}, base fee ${baseFee}`
  throw new DevchainError('FEE_CAP_TOO_LOW', message)
}

function checkLeastPrice({ state, hardfork }: Gate, transaction: Transaction): void {
  const { minGasPrice } = state.settings
  const offered = isAtLeast(hardfork, 'london')
    ? transaction.maxPriorityFeePerGas
    : transaction.maxFeePerGas
  if (offered >= minGasPrice) return
  const message = `transaction underpriced: offers ${offered} wei per gas, the least is ${minGasPrice}`
  throw new DevchainError('TRANSACTION_UNDERPRICED', message)
}

/** EIP-3607: nobody has the key of a contract's address. Delegating accounts have keys, impersonated ones need none. */
function checkSender({ state }: Gate, { from }: Transaction): void {
  const code = codeAt(headOf(state.tree).world, from)
  if (code.length === 0 || isImpersonated(state.accounts, from)) return
  if (DELEGATION_PREFIX.every((byte, at) => code[at] === byte)) return
  const message = `sender not an eoa: ${from} is a contract with ${code.length} bytes of code`
  throw new DevchainError('INVALID_SENDER', message)
}

function checkNonce({ state }: Gate, { from, nonce }: Transaction): void {
  if (nonce > MAX_NONCE) {
    const message = `nonce too high: have ${nonce}, the highest there is is ${MAX_NONCE}`
    throw new DevchainError('NONCE_TOO_HIGH', message)
  }
  const next = nonceAt(headOf(state.tree).world, from)
  if (nonce >= next) return
  const message = `nonce too low: next nonce ${next}, tx nonce ${nonce}`
  throw new DevchainError('NONCE_TOO_LOW', message)
}

function checkFunds({ state }: Gate, transaction: Transaction): void {
  const { from, value, gasLimit, maxFeePerGas } = transaction
  const { world } = headOf(state.tree)
  const balance = balanceAt(world, from)
  const cost = value + gasLimit * maxFeePerGas
  if (balance >= cost) return
  const note = accountAt(world, from) === undefined ? ' (an account that does not exist yet)' : ''
  const message = `insufficient funds for gas * price + value: address ${from}${note} have ${balance} want ${cost}`
  throw new DevchainError('INSUFFICIENT_FUNDS', message)
}

/** Both fees must rise, else a replacement could lower what a block pays. */
function checkReplacement({ state }: Gate, transaction: Transaction): void {
  const { from, nonce, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const old = pooledByNonce(state.pool, from, nonce)?.transaction
  if (old === undefined) return
  const fee = leastReplacement(old.maxFeePerGas)
  const tip = leastReplacement(old.maxPriorityFeePerGas)
  if (maxFeePerGas >= fee && (maxPriorityFeePerGas >= tip || old.maxPriorityFeePerGas === 0n))
    return
  const message = `replacement transaction underpriced: nonce ${nonce} waits with fee ${old.maxFeePerGas} and tip ${old.maxPriorityFeePerGas}, its replacement needs at least ${fee} and ${tip}, got ${maxFeePerGas} and ${maxPriorityFeePerGas}`
  throw new DevchainError('REPLACEMENT_UNDERPRICED', message)
}

/** 10 % more, rounded up; from 0 anything positive. */
function leastReplacement(price: bigint): bigint {
  return price === 0n ? 1n : (price * (100n + PRICE_BUMP) + 99n) / 100n
}

function checkRoom({ state }: Gate, { from, nonce }: Transaction): void {
  if (state.pool.size < POOL_LIMIT || pooledByNonce(state.pool, from, nonce) !== undefined) return
  const message = `transaction pool is full: ${POOL_LIMIT} transactions wait`
  throw new DevchainError('POOL_FULL', message)
}
