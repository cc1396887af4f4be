// Transaction rules of the pool and the executor, with the messages that clients expect. The caller picks and orders them.
import { larger, MAX_UINT64, MAX_UINT256 } from '../../core/bigints.ts'
import { DevchainError, refusal } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import {
  type BlobRules,
  blobGasOf,
  floorDataGas,
  GAS_PER_BLOB,
  type GasRelevant,
  highestBlobCost,
  intrinsicGas,
  maxBlobGas,
} from '../fees.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import { EXECUTION_GAS_CAP } from '../stategas.ts'
import { isDelegation } from './delegation.ts'
import type { BlobFields, Transaction, TransactionType } from './transaction.ts'

const FORK_OF_TYPE: Readonly<Record<TransactionType, Hardfork>> = {
  0: 'frontier',
  1: 'berlin',
  2: 'london',
  3: 'cancun',
  4: 'prague',
}

/** EIP-2681. */
export const MAX_NONCE: bigint = MAX_UINT64 - 1n

/** Bytes of deployed code (EIP-170, EIP-7954). */
export function maxCodeSize(hardfork: Hardfork): number {
  return isAtLeast(hardfork, 'amsterdam') ? 65_536 : 24_576
}

/** Gas limit of one transaction from osaka on (EIP-7825); since amsterdam only its execution gas is limited. */
export const TRANSACTION_GAS_CAP: bigint = 2n ** 24n

export function hasGasCap(hardfork: Hardfork): boolean {
  return isAtLeast(hardfork, 'osaka') && !isAtLeast(hardfork, 'amsterdam')
}

export interface Sender {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
}

/** @throws {DevchainError} `TYPE_NOT_SUPPORTED` before the type's fork */
export function requireType({ type }: Pick<Transaction, 'type'>, hardfork: Hardfork): void {
  const needed = FORK_OF_TYPE[type]
  if (isAtLeast(hardfork, needed)) return
  const message = `transaction type not supported: type ${type} needs hardfork ${needed}, the chain is at ${hardfork}`
  throw refusal('TYPE_NOT_SUPPORTED', message, { type, needed, hardfork })
}

export function requireChainId(transaction: Transaction, chainId: bigint): void {
  if (transaction.chainId === undefined || transaction.chainId === chainId) return
  const message = `invalid chain id for signer: have ${transaction.chainId} want ${chainId}`
  throw refusal('WRONG_CHAIN_ID', message, {
    given: transaction.chainId,
    chainId,
    type: transaction.type,
  })
}

/** @throws {DevchainError} for a set-code transaction without authorizations or target (EIP-7702) */
export function requireAuthorizations({
  type,
  to,
  authorizationList,
}: Pick<Transaction, 'type' | 'to' | 'authorizationList'>): void {
  if (type !== 4) return
  if (authorizationList.length === 0) {
    const empty = 'empty authorization list: a type 4 transaction needs at least one authorization'
    throw new DevchainError('EMPTY_AUTHORIZATION_LIST', empty)
  }
  if (to !== null) return
  const message = 'transaction type not supported: a type 4 transaction cannot create a contract'
  throw new DevchainError('TYPE_NOT_SUPPORTED', message)
}

/**
 * @param codeSize maximum bytes of deployed code; undefined: the fork's
 * @throws {DevchainError} `INIT_CODE_TOO_LARGE` above twice as many (EIP-3860)
 */
export function requireInitCodeSize(
  { to, data }: Pick<GasRelevant, 'to' | 'data'>,
  hardfork: Hardfork,
  codeSize: number | undefined,
): void {
  if (to !== null || !isAtLeast(hardfork, 'shanghai')) return
  const limit = 2 * (codeSize ?? maxCodeSize(hardfork))
  if (data.length <= limit) return
  const message = `max initcode size exceeded: code size ${data.length}, limit ${limit}`
  throw refusal('INIT_CODE_TOO_LARGE', message, { given: data.length, most: limit })
}

/** @throws {DevchainError} `INTRINSIC_GAS_TOO_LOW`, or `GAS_BELOW_FLOOR` below the calldata floor (EIP-7623) */
export function requireIntrinsicGas(
  message: GasRelevant & { readonly gasLimit: bigint },
  hardfork: Hardfork,
): void {
  const { gasLimit: given } = message
  const least = intrinsicGas(message, hardfork)
  if (given < least) {
    const failure = `intrinsic gas too low: have ${given}, want ${least}`
    throw refusal('INTRINSIC_GAS_TOO_LOW', failure, { given, least })
  }
  const floor = floorDataGas(message, hardfork)
  const wanted = larger(least, floor)
  if (isAtLeast(hardfork, 'amsterdam') && wanted > EXECUTION_GAS_CAP) {
    const failure = `transaction gas limit too high: its data and access list need ${wanted} execution gas, at most ${EXECUTION_GAS_CAP} are allowed`
    throw new DevchainError('GAS_LIMIT_TOO_HIGH', failure)
  }
  if (given >= floor) return
  // clients match the first words
  const failure = `intrinsic gas too low: have ${given}, want ${floor}, the floor for this much calldata`
  throw refusal('GAS_BELOW_FLOOR', failure, { given, floor })
}

export function requireBlockGas(gasLimit: bigint, blockGasLimit: bigint): void {
  if (gasLimit > blockGasLimit) throw blockGasError(gasLimit, blockGasLimit)
}

export function blockGasError(gasLimit: bigint, blockGasLimit: bigint): DevchainError {
  const message = `exceeds block gas limit: have ${gasLimit}, the block's limit is ${blockGasLimit}`
  return refusal('EXCEEDS_BLOCK_GAS_LIMIT', message, { given: gasLimit, most: blockGasLimit })
}

/** Of one transaction from osaka on (EIP-7594). */
const TRANSACTION_BLOBS = 6

/** First byte of a KZG commitment's hash. */
const BLOB_HASH_VERSION = '0x01'

/** @throws {DevchainError} `INVALID_BLOBS` (EIP-4844) */
export function requireBlobs(
  { type, to, blobs }: Pick<Transaction, 'type' | 'to' | 'blobs'>,
  hardfork: Hardfork,
  rules: BlobRules | undefined,
): void {
  if (type !== 3) return
  const problem = blobProblem(to, blobs?.versionedHashes ?? [], hardfork, rules)
  if (problem !== undefined) throw new DevchainError('INVALID_BLOBS', problem)
}

function blobProblem(
  to: Address | null,
  hashes: BlobFields['versionedHashes'],
  hardfork: Hardfork,
  rules: BlobRules | undefined,
): string | undefined {
  if (to === null) return 'blob transaction of type create: it must name a target'
  if (hashes.length === 0) return 'blob transaction missing blob hashes: it needs at least one'
  const wrong = hashes.find((hash) => !hash.startsWith(BLOB_HASH_VERSION))
  if (wrong !== undefined) return `blob hash of an unknown version: ${wrong}, expected 0x01…`
  const perBlock = Number(maxBlobGas(hardfork, rules) / GAS_PER_BLOB)
  const isCapped = isAtLeast(hardfork, 'osaka') && TRANSACTION_BLOBS < perBlock
  const most = isCapped ? TRANSACTION_BLOBS : perBlock
  if (hashes.length <= most) return undefined
  return `too many blobs in transaction: have ${hashes.length}, at most ${most} are permitted`
}

/**
 * @param used blob gas of the earlier transactions in the block
 * @throws {DevchainError} `EXCEEDS_BLOCK_GAS_LIMIT`
 */
export function requireBlobRoom(
  transaction: Pick<Transaction, 'blobs'>,
  used: bigint,
  hardfork: Hardfork,
  rules: BlobRules | undefined,
): void {
  const most = maxBlobGas(hardfork, rules)
  const wanted = blobGasOf(transaction)
  if (wanted <= most - used) return
  const message = `block blob gas limit reached: expected at most ${most - used} blob gas, which is left of ${most}, got ${wanted}`
  throw new DevchainError('EXCEEDS_BLOCK_GAS_LIMIT', message)
}

/** @throws {DevchainError} `BLOB_FEE_CAP_TOO_LOW` below the block's blob base fee */
export function requireBlobFee({ blobs }: Pick<Transaction, 'blobs'>, price: bigint): void {
  if (blobs === undefined || blobs.maxFeePerBlobGas >= price) return
  const message = `max fee per blob gas less than block blob gas fee: fee cap ${blobs.maxFeePerBlobGas}, blob base fee ${price}`
  throw refusal('BLOB_FEE_CAP_TOO_LOW', message, { given: blobs.maxFeePerBlobGas, least: price })
}

interface Fees {
  /** Undefined: unknown which members the caller named. */
  readonly type?: TransactionType | undefined
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** @throws {DevchainError} `TIP_ABOVE_FEE_CAP` (EIP-1559) */
export function requireTipWithinCap({ maxFeePerGas, maxPriorityFeePerGas }: Fees): void {
  if (maxPriorityFeePerGas <= maxFeePerGas) return
  const message = `max priority fee per gas higher than max fee per gas: tip ${maxPriorityFeePerGas}, fee cap ${maxFeePerGas}`
  throw refusal('TIP_ABOVE_FEE_CAP', message, { given: maxPriorityFeePerGas, most: maxFeePerGas })
}

/** @throws {DevchainError} `FEE_CAP_TOO_LOW` below the block's base fee, which is 0 before london */
export function requireBaseFee({ type = 2, maxFeePerGas }: Fees, baseFee: bigint): void {
  if (maxFeePerGas >= baseFee) return
  const message = `max fee per gas less than block base fee: fee cap ${maxFeePerGas}, base fee ${baseFee}`
  const member = type < 2 ? 'gasPrice' : 'maxFeePerGas'
  throw refusal('FEE_CAP_TOO_LOW', message, { given: maxFeePerGas, least: baseFee, member })
}

/** @throws {DevchainError} `INVALID_SENDER` for a contract's address, which has no key (EIP-3607) */
export function requireKeyedSender(from: Address, { code }: Sender, isImpersonated: boolean): void {
  if (code.length === 0 || isImpersonated || isDelegation(code)) return
  const message = `sender not an eoa: ${from} is a contract with ${code.length} bytes of code`
  throw new DevchainError('INVALID_SENDER', message)
}

/**
 * @param mayWait true if a nonce gap only queues the transaction
 * @throws {DevchainError} `NONCE_TOO_LOW` for a used nonce, `NONCE_TOO_HIGH` above the maximum (EIP-2681)
 */
export function requireUnusedNonce(
  { nonce, from, gasLimit }: Transaction,
  sender: Sender,
  mayWait: boolean = false,
): void {
  if (nonce > MAX_NONCE) {
    const message = `nonce too high: have ${nonce}, the highest there is is ${MAX_NONCE}`
    throw refusal('NONCE_TOO_HIGH', message, { given: nonce, beyond: MAX_NONCE, from, gasLimit })
  }
  if (nonce >= sender.nonce) return
  const message = `nonce too low: next nonce ${sender.nonce}, tx nonce ${nonce}`
  throw refusal('NONCE_TOO_LOW', message, {
    given: nonce,
    next: sender.nonce,
    mayWait: mayWait ? 1 : 0,
  })
}

/** @throws {DevchainError} as `requireUnusedNonce`, and `NONCE_TOO_HIGH` for a gap */
export function requireNextNonce(transaction: Transaction, sender: Sender): void {
  requireUnusedNonce(transaction, sender)
  if (transaction.nonce === sender.nonce) return
  const message = `nonce too high: next nonce ${sender.nonce}, tx nonce ${transaction.nonce}`
  throw refusal('NONCE_TOO_HIGH', message, { given: transaction.nonce, next: sender.nonce })
}

type Cost = Pick<Transaction, 'from' | 'value' | 'gasLimit' | 'maxFeePerGas' | 'blobs'>

/** @throws {DevchainError} `INSUFFICIENT_FUNDS` for less than the maximum cost, even if less is spent */
export function requireFunds(
  { from, value, gasLimit, maxFeePerGas, blobs }: Cost,
  sender: Pick<Sender, 'balance'> | undefined,
): void {
  const balance = sender?.balance ?? 0n
  const cost = gasLimit * maxFeePerGas + value + highestBlobCost({ blobs })
  if (cost <= balance && cost <= MAX_UINT256) return
  const note = sender === undefined ? ' (an account that does not exist yet)' : ''
  const message = `insufficient funds for gas * price + value: address ${from}${note} have ${balance} want ${cost}`
  throw refusal('INSUFFICIENT_FUNDS', message, { from, balance, cost })
}
