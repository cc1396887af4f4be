// Hardhat's messages of refused requests.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { ErrorFacts } from '../../core/errors.ts'
import { parseAddress } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Profile } from './profile.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, SAME_MESSAGE, type Wording } from './wording.ts'

const UNQUEUED = "Note that transactions can't be queued when automining."

const nonceTooLow: Wording = ({ facts: { mayWait } }) =>
  mayWait === 1
    ? 'Transaction nonce too low. Expected nonce to be at least {next} but got {given}.'
    : `Nonce too low. Expected nonce to be {next} but got {given}. ${UNQUEUED}`

const replacement: Wording = ({ facts: { fee, given } }) => {
  const isFee = (given ?? 0n) < (fee ?? 0n)
  const least = isFee ? 'maxFeePerGas of at least {fee}' : 'maxPriorityFeePerGas of at least {tip}'
  return `Replacement transaction underpriced. A gasPrice/${least} is necessary to replace the existing transaction with nonce {nonce}.`
}

/** Hardhat has different messages for the chain id of a signature and of a request. */
const wrongChain: Wording = ({ method, facts: { type } }) => {
  if (method !== 'eth_sendRawTransaction') {
    return invalid('Invalid chainId {given} provided, expected {chainId} instead.')
  }
  return invalid(
    type === 0
      ? 'Trying to send an incompatible EIP-155 transaction, signed for another chain.'
      : 'Trying to send a raw transaction with an invalid chainId. The expected chainId is {chainId}',
  )
}

function invalid(message: string): ErrorObject {
  return { code: INVALID_PARAMS, message }
}

/** Hardhat names berlin for both types. */
const FROM_BERLIN = "You can use them by running Hardhat Network with 'hardfork' BERLIN or later."

const NO_LISTS = `Access list received but is not supported by the current hardfork. \n\n${FROM_BERLIN}\n        `

const NO_FEES = `EIP-1559 style fee params (maxFeePerGas or maxPriorityFeePerGas) received but they are not supported by the current hardfork.\n\n${FROM_BERLIN}\n        `

const NO_RAW_FEES = `Trying to send an EIP-1559 transaction but they are not supported by the current hard fork.${FROM_BERLIN}`

/** An unknown type, or one of a later hardfork. */
const unknownType: Wording = ({ method, facts: { type, needed, hardfork } }) => {
  if (type === undefined) return invalid(SAME_MESSAGE)
  if (needed === undefined) return invalid('Invalid transaction type {type}.')
  if (type === 4) {
    return invalid(
      `The transaction contains EIP-7702 parameters, but they are not supported by the current hardfork: ${String(hardfork).toUpperCase()}. Use the Prague hardfork (or later).`,
    )
  }
  if (type === 1) return invalid(NO_LISTS)
  if (type !== 2) return invalid(SAME_MESSAGE)
  return invalid(method === 'eth_sendRawTransaction' ? NO_RAW_FEES : NO_FEES)
}

const notFound: Wording = ({ method, facts: { number, hash, branch, transaction } }) => {
  if (hash !== undefined && /logs$|filter$/i.test(method)) {
    return invalid('blockHash cannot be found')
  }
  if (transaction !== undefined) {
    return 'Unable to find a block containing transaction {transaction}'
  }
  const block = number ?? hash ?? branch
  if (block === undefined) return SAME_MESSAGE
  return `Received invalid block tag ${block}. Latest block number is {height}`
}

/** Well-formed values that are impossible. */
const impossible: Wording = ({ facts }) => {
  const { waiting, tag, hardfork, both, timestamp, newest, blockCount, percentile } = facts
  if (waiting !== undefined) {
    const message = 'Cannot set account nonce when the transaction pool is not empty'
    return { code: INTERNAL_ERROR, message }
  }
  if (tag !== undefined) {
    return invalid(
      `The '{tag}' block tag is not allowed in pre-merge hardforks. You are using the '${String(hardfork).toUpperCase()}' hardfork.`,
    )
  }
  if (facts.bytes === 0) return invalid('input too short')
  if (facts.isInput !== undefined) return SAME_MESSAGE
  if (facts.overridden !== undefined) return TWO_STORAGES
  if (both !== undefined) {
    return `Cannot send both gasPrice and {both}${both === 'maxFeePerGas' ? ' params' : ''}`
  }
  if (timestamp !== undefined) return timestamp === newest ? SAME_TIME : TOO_EARLY
  if (blockCount !== undefined) {
    return `blockCount should be at ${blockCount === 0n ? 'least 1' : 'most 1024'}`
  }
  if (facts.blockGasLimit === 0n) return 'Block gas limit must be greater than 0'
  if (percentile !== undefined) return percentileMessage(percentile, Number(facts.position))
  if (facts.existing !== undefined) {
    return 'New nonce ({nonce}) must not be smaller than the existing nonce ({existing})'
  }
  return facts.creates === undefined
    ? invalid(SAME_MESSAGE)
    : 'Contract creation without any data provided'
}

const TWO_STORAGES =
  "The properties 'state' and 'stateDiff' cannot be used simultaneously when configuring the state override set passed to the eth_call method."

const SAME_TIME =
  "Timestamp {timestamp} is equal to the previous block's timestamp. Enable the 'allowBlocksWithSameTimestamp' option to allow this"

const TOO_EARLY = "Timestamp {timestamp} is lower than the previous block's timestamp {newest}"

function percentileMessage(percentile: ErrorFacts[string], position: number): string {
  return Number(percentile) < 0 || Number(percentile) > 100
    ? `The reward percentile number ${position} is invalid. It must be a float between 0 and 100, but is ${percentile} instead.`
    : `The reward percentiles should be in non-decreasing order, but the percentile number ${position - 1} is greater than the next one`
}

const UNKNOWN_METHOD: Wording = { code: -32004, message: 'Method {method} is not supported' }

/** Features that exist, but are unavailable now. */
const notSupported: Wording = ({ method, facts: { needed, hardfork } }) => {
  if (needed === 'paris') {
    return `{method} is only available in post-merge hardforks, the current hardfork is ${String(hardfork).toUpperCase()}`
  }
  if (needed !== undefined) {
    return method === 'eth_feeHistory'
      ? 'eth_feeHistory is disabled. It only works with the London hardfork or a later one.'
      : '{method} is disabled because EIP-1559 is not active'
  }
  if (!/setMinGasPrice$/.test(method)) return UNKNOWN_METHOD
  return '{method} is not supported when EIP-1559 is active'
}

export const HARDHAT_ERRORS: Profile['errors'] = {
  METHOD_NOT_FOUND: UNKNOWN_METHOD,
  METHOD_NOT_SUPPORTED: notSupported,
  INVALID_PARAMS: impossible,
  NOT_FOUND: notFound,
  UNKNOWN_ACCOUNT: ({ facts: { address } }) =>
    address === undefined
      ? SAME_MESSAGE
      : `Unknown account ${checksumAddress(parseAddress(String(address)))}`,
  ACCOUNT_LOCKED: SAME_MESSAGE,
  NONCE_TOO_LOW: nonceTooLow,
  NONCE_TOO_HIGH: ({ facts: { next } }) =>
    next === undefined
      ? SAME_MESSAGE
      : `Nonce too high. Expected nonce to be {next} but got {given}. ${UNQUEUED}`,
  // a pending transaction is known; a mined one has a used nonce
  ALREADY_KNOWN: ({ facts: { number } }) =>
    number === undefined ? 'Known transaction: {hash}' : nonceTooLow,
  REPLACEMENT_UNDERPRICED: replacement,
  TRANSACTION_UNDERPRICED:
    'Transaction gas price is {given}, which is below the minimum of {least}',
  INSUFFICIENT_FUNDS:
    "Sender doesn't have enough funds to send tx. The max upfront cost is: {cost} and the sender's balance is: {balance}.",
  INTRINSIC_GAS_TOO_LOW: 'Transaction requires at least {least} gas but got {given}',
  GAS_BELOW_FLOOR: 'Transaction requires gas floor of {floor} but got limit of {given}',
  EXCEEDS_BLOCK_GAS_LIMIT: ({ facts: { most } }) =>
    most === undefined
      ? SAME_MESSAGE
      : 'Transaction gas limit is {given} and exceeds block gas limit of {most}',
  GAS_LIMIT_TOO_HIGH: 'Transaction gas limit is {given} and exceeds transaction gas cap of {most}',
  FEE_CAP_TOO_LOW: ({ facts: { member = 'maxFeePerGas' } }) =>
    `Transaction ${member} ({given}) is too low for the next block, which has a baseFeePerGas of {least}`,
  TIP_ABOVE_FEE_CAP: 'maxPriorityFeePerGas ({given}) is bigger than maxFeePerGas ({most})',
  WRONG_CHAIN_ID: wrongChain,
  INVALID_SIGNATURE: invalid('Invalid Signature'),
  TYPE_NOT_SUPPORTED: unknownType,
  INIT_CODE_TOO_LARGE: invalid(
    "\nTrying to send a deployment transaction whose init code length is {given}. The max length allowed by EIP-3860 is {most}.\n\nEnable the 'allowUnlimitedContractSize' option to allow init codes of any length.",
  ),
  EMPTY_AUTHORIZATION_LIST: 'Invalid EIP-7702 transaction: authorization list is empty.',
  INVALID_BLOBS: invalid(SAME_MESSAGE),
  BLOB_FEE_CAP_TOO_LOW: SAME_MESSAGE,
  INVALID_SENDER: SAME_MESSAGE,
  POOL_FULL: SAME_MESSAGE,
}
