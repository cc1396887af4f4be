// What keeps a transaction out of a block: each check in the order in which callers are told about them.
import { DevchainError } from '../core/errors.ts'
import { type Address, EMPTY_BYTES } from '../core/hex.ts'
import { floorDataGas, intrinsicGas } from '../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import type { Transaction, TransactionType } from '../protocol/transaction.ts'
import { accountAt, type World } from '../state/world.ts'
import type {
  BlockEnvironment,
  CallJob,
  ExecutionLimits,
  Message,
  TransactionJob,
} from './executor.ts'

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

const MAX_WORD = 2n ** 256n - 1n

/**
 * Refuses what may not be in the block: type, chain id, nonce, sender, fees, authorization list, funds, gas limit,
 * intrinsic gas, size of init code.
 * @throws {DevchainError} with the word of the first check that fails
 */
export function checkTransaction({ world, block, transaction, limits }: TransactionJob): void {
  checkType(transaction, block)
  checkChainId(transaction, block)
  checkNonce(transaction, world)
  checkSender(transaction, world)
  checkFees(transaction, block)
  checkAuthorizations(transaction)
  checkFunds(transaction, world)
  checkBlockGas(transaction, block)
  checkIntrinsicGas(transaction, block)
  checkInitCode(transaction, block, limits)
}

/**
 * Refuses what geth's `eth_call` refuses too: a price below the base fee (a price of 0 is a free call), funds that do
 * not cover value and price, gas below the intrinsic gas, init code that is too long. Nonce and code of the sender and
 * the block's gas limit do not matter.
 * @throws {DevchainError} with the word of the first check that fails
 */
export function checkMessage({ world, block, message, limits }: CallJob): void {
  if (!isFree(message)) checkFees(message, block)
  checkFunds(message, world)
  checkIntrinsicGas(message, block)
  checkInitCode(message, block, limits)
}

/** A call without a price, which neither pays for gas nor must offer the base fee. */
export function isFree({ maxFeePerGas, maxPriorityFeePerGas }: Message): boolean {
  return maxFeePerGas === 0n && maxPriorityFeePerGas === 0n
}

/** Code that only names another account's code (EIP-7702). */
export function isDelegation(code: Uint8Array): boolean {
  return code.length === 23 && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00
}

function checkType({ type }: Transaction, { hardfork }: BlockEnvironment): void {
  const needed = FORK_OF_TYPE[type]
  if (isAtLeast(hardfork, needed)) return
  throw new DevchainError(
    'TYPE_NOT_SUPPORTED',
    `transaction type not supported: type ${type} needs hardfork ${needed}, the block is at ${hardfork}`,
  )
}

function checkChainId({ chainId }: Transaction, block: BlockEnvironment): void {
  if (chainId === undefined || chainId === block.chainId) return
  throw new DevchainError(
    'WRONG_CHAIN_ID',
    `invalid chain id for signer: have ${chainId} want ${block.chainId}`,
  )
}

function checkNonce({ from, nonce }: Transaction, world: World): void {
  if (nonce > MAX_NONCE) {
    const message = `nonce too high: have ${nonce}, the highest there is is ${MAX_NONCE}`
    throw new DevchainError('NONCE_TOO_HIGH', message)
  }
  const next = accountAt(world, from)?.nonce ?? 0n
  if (nonce === next) return
  const isLow = nonce < next
  throw new DevchainError(
    isLow ? 'NONCE_TOO_LOW' : 'NONCE_TOO_HIGH',
    `nonce too ${isLow ? 'low' : 'high'}: next nonce ${next}, tx nonce ${nonce}`,
  )
}

/** EIP-3607: nobody has the key of a contract's address. Delegating accounts have keys, impersonated ones need none. */
function checkSender(transaction: Transaction, world: World): void {
  const { from } = transaction
  const code = accountAt(world, from)?.code ?? EMPTY_BYTES
  if (code.length === 0 || isDelegation(code) || isImpersonation(transaction)) return
  throw new DevchainError(
    'INVALID_SENDER',
    `sender not an eoa: ${from} is a contract with ${code.length} bytes of code`,
  )
}

/** An impersonated sender's transaction carries its address in place of a signature (`impersonate`). */
function isImpersonation({ from, r, s }: Transaction): boolean {
  return r === s && r === BigInt(from)
}

interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

function checkFees(fees: Fees, { hardfork, baseFee }: BlockEnvironment): void {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  if (maxPriorityFeePerGas > maxFeePerGas) {
    throw new DevchainError(
      'TIP_ABOVE_FEE_CAP',
      `max priority fee per gas higher than max fee per gas: tip ${maxPriorityFeePerGas}, fee cap ${maxFeePerGas}`,
    )
  }
  if (!isAtLeast(hardfork, 'london') || maxFeePerGas >= baseFee) return
  throw new DevchainError(
    'FEE_CAP_TOO_LOW',
    `max fee per gas less than block base fee: fee cap ${maxFeePerGas}, base fee ${baseFee}`,
  )
}

function checkAuthorizations({ type, to, authorizationList }: Transaction): void {
  if (type !== 4) return
  if (authorizationList.length === 0) {
    throw new DevchainError(
      'EMPTY_AUTHORIZATION_LIST',
      'empty authorization list: a type 4 transaction needs at least one authorization',
    )
  }
  if (to !== null) return
  throw new DevchainError(
    'TYPE_NOT_SUPPORTED',
    'transaction type not supported: a type 4 transaction cannot create a contract',
  )
}

interface Cost extends Fees {
  readonly from: Address
  readonly value: bigint
  readonly gasLimit: bigint
}

/** The sender must own the most that may be spent, though less will be. */
function checkFunds({ from, value, gasLimit, maxFeePerGas }: Cost, world: World): void {
  const account = accountAt(world, from)
  const balance = account?.balance ?? 0n
  const cost = gasLimit * maxFeePerGas + value
  if (cost <= balance && cost <= MAX_WORD) return
  const note = account === undefined ? ' (an account that does not exist yet)' : ''
  throw new DevchainError(
    'INSUFFICIENT_FUNDS',
    `insufficient funds for gas * price + value: address ${from}${note} have ${balance} want ${cost}`,
  )
}

function checkBlockGas({ gasLimit }: Transaction, block: BlockEnvironment): void {
  if (gasLimit <= block.gasLimit) return
  throw new DevchainError(
    'EXCEEDS_BLOCK_GAS_LIMIT',
    `exceeds block gas limit: have ${gasLimit}, the block's limit is ${block.gasLimit}`,
  )
}

function checkIntrinsicGas(
  message: Pick<Message, 'to' | 'data' | 'accessList' | 'authorizationList' | 'gasLimit'>,
  { hardfork }: BlockEnvironment,
): void {
  const intrinsic = intrinsicGas(message, hardfork)
  const floor = floorDataGas(message, hardfork)
  const isFloor = floor > intrinsic
  const least = isFloor ? floor : intrinsic
  if (message.gasLimit >= least) return
  const note = isFloor ? ', the floor for this much calldata' : ''
  throw new DevchainError(
    'INTRINSIC_GAS_TOO_LOW',
    `intrinsic gas too low: have ${message.gasLimit}, want ${least}${note}`,
  )
}

function checkInitCode(
  { to, data }: Pick<Message, 'to' | 'data'>,
  { hardfork }: BlockEnvironment,
  limits: ExecutionLimits | undefined,
): void {
  if (to !== null || !isAtLeast(hardfork, 'shanghai')) return
  const limit = 2 * (limits?.codeSize ?? CODE_SIZE_LIMIT)
  if (data.length <= limit) return
  throw new DevchainError(
    'INIT_CODE_TOO_LARGE',
    `max initcode size exceeded: code size ${data.length}, limit ${limit}`,
  )
}
