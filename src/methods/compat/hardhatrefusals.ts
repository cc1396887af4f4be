// Hardhat's refusals, in its words; each also has the message in its data.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { parseAddress } from '../../core/hex.ts'
import type { Profile } from './profile.ts'
import {
  filledIn,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type Refusal,
  type Refused,
  SERVER_ERROR,
  type Words,
} from './refusal.ts'

function told(words: Words, code: number = SERVER_ERROR): Refusal {
  return (refused) => {
    const message = filledIn(words, refused)
    return { code, message, data: { message } }
  }
}

const AS_HERE = told('{message}')

const UNQUEUED = "Note that transactions can't be queued when automining."

const nonceTooLow = ({ facts }: Refused): string =>
  facts.mayWait === 1
    ? 'Transaction nonce too low. Expected nonce to be at least {next} but got {given}.'
    : `Nonce too low. Expected nonce to be {next} but got {given}. ${UNQUEUED}`

const nonceTooHigh: Words = ({ facts: { next } }) =>
  next === undefined
    ? '{message}'
    : `Nonce too high. Expected nonce to be {next} but got {given}. ${UNQUEUED}`

/** A pending transaction is known; a mined one has a used nonce. */
const alreadyKnown: Words = (refused) =>
  refused.facts.number === undefined ? 'Known transaction: {hash}' : nonceTooLow(refused)

const replacement: Words = ({ facts: { fee, given } }) => {
  const isFee = (given ?? 0n) < (fee ?? 0n)
  const least = isFee ? 'maxFeePerGas of at least {fee}' : 'maxPriorityFeePerGas of at least {tip}'
  return `Replacement transaction underpriced. A gasPrice/${least} is necessary to replace the existing transaction with nonce {nonce}.`
}

const feeCapTooLow: Words = ({ facts: { member = 'maxFeePerGas' } }) =>
  `Transaction ${member} ({given}) is too low for the next block, which has a baseFeePerGas of {least}`

const unknownAccount: Words = ({ facts: { address } }) =>
  address === undefined
    ? '{message}'
    : `Unknown account ${checksumAddress(parseAddress(String(address)))}`

/** Hardhat has different messages for the chain id of a signature and of a request. */
const wrongChain: Words = ({ method, facts: { type } }) => {
  if (method !== 'eth_sendRawTransaction') {
    return 'Invalid chainId {given} provided, expected {chainId} instead.'
  }
  return type === 0
    ? 'Trying to send an incompatible EIP-155 transaction, signed for another chain.'
    : 'Trying to send a raw transaction with an invalid chainId. The expected chainId is {chainId}'
}

/** Hardhat names berlin for both types. */
const FROM_BERLIN = "You can use them by running Hardhat Network with 'hardfork' BERLIN or later."

const NO_LISTS = `Access list received but is not supported by the current hardfork. \n\n${FROM_BERLIN}\n        `

const NO_FEES = `EIP-1559 style fee params (maxFeePerGas or maxPriorityFeePerGas) received but they are not supported by the current hardfork.\n\n${FROM_BERLIN}\n        `

const NO_RAW_FEES = `Trying to send an EIP-1559 transaction but they are not supported by the current hard fork.${FROM_BERLIN}`

/** An unknown type, or one of a later hardfork. */
const unknownType: Words = ({ method, facts: { type, needed, hardfork } }) => {
  if (type === undefined) return '{message}'
  if (needed === undefined) return 'Invalid transaction type {type}.'
  if (type === 4) {
    return `The transaction contains EIP-7702 parameters, but they are not supported by the current hardfork: ${String(hardfork).toUpperCase()}. Use the Prague hardfork (or later).`
  }
  if (type === 1) return NO_LISTS
  if (type === 2) return method === 'eth_sendRawTransaction' ? NO_RAW_FEES : NO_FEES
  return '{message}'
}

const notFound: Words = ({ facts: { number, hash, branch, transaction } }) => {
  if (transaction !== undefined)
    return 'Unable to find a block containing transaction {transaction}'
  const block = number ?? hash ?? branch
  if (block === undefined) return '{message}'
  return `Received invalid block tag ${block}. Latest block number is {height}`
}

const SHORT_TRANSACTION = told('input too short', INVALID_PARAMS)

const EARLY_TAG = told(
  ({ facts: { hardfork } }) =>
    `The '{tag}' block tag is not allowed in pre-merge hardforks. You are using the '${String(hardfork).toUpperCase()}' hardfork.`,
  INVALID_PARAMS,
)

/** Well-formed values that are impossible. */
const unfit: Refusal = (refused) => {
  if (refused.facts.waiting !== undefined) return POOL_NOT_EMPTY(refused)
  if (refused.facts.tag !== undefined) return EARLY_TAG(refused)
  if (refused.facts.bytes === 0) return SHORT_TRANSACTION(refused)
  const words = unfitWords(refused.facts)
  return (words === undefined ? told('{message}', INVALID_PARAMS) : told(words))(refused)
}

function unfitWords(facts: Refused['facts']): string | undefined {
  const { both, timestamp, blockCount, percentile } = facts
  if (facts.isInput !== undefined) return '{message}'
  if (facts.overridden !== undefined) return TWO_STORAGES
  if (both !== undefined) {
    return `Cannot send both gasPrice and {both}${both === 'maxFeePerGas' ? ' params' : ''}`
  }
  if (timestamp !== undefined) return timestamp === facts.newest ? SAME_TIME : TOO_EARLY
  if (blockCount !== undefined) {
    return `blockCount should be at ${blockCount === 0n ? 'least 1' : 'most 1024'}`
  }
  if (facts.blockGasLimit === 0n) return 'Block gas limit must be greater than 0'
  if (percentile !== undefined) return percentileWords(percentile, Number(facts.position))
  if (facts.existing !== undefined) {
    return 'New nonce ({nonce}) must not be smaller than the existing nonce ({existing})'
  }
  return facts.creates === undefined ? undefined : 'Contract creation without any data provided'
}

const TWO_STORAGES =
  "The properties 'state' and 'stateDiff' cannot be used simultaneously when configuring the state override set passed to the eth_call method."

const POOL_NOT_EMPTY = told(
  'Cannot set account nonce when the transaction pool is not empty',
  INTERNAL_ERROR,
)

const SAME_TIME =
  "Timestamp {timestamp} is equal to the previous block's timestamp. Enable the 'allowBlocksWithSameTimestamp' option to allow this"

const TOO_EARLY = "Timestamp {timestamp} is lower than the previous block's timestamp {newest}"

function percentileWords(percentile: Refused['facts'][string], position: number): string {
  const isOutside = Number(percentile) < 0 || Number(percentile) > 100
  return isOutside
    ? `The reward percentile number ${position} is invalid. It must be a float between 0 and 100, but is ${percentile} instead.`
    : `The reward percentiles should be in non-decreasing order, but the percentile number ${position - 1} is greater than the next one`
}

const UNKNOWN_LOGS = told('blockHash cannot be found', INVALID_PARAMS)

const UNKNOWN_METHOD = told('Method {method} is not supported', -32004)

/** Features that exist, but are unavailable now. */
const notSupported: Refusal = (refused) => {
  if (refused.facts.needed !== undefined) return NO_SUCH_FORK(refused)
  return /setMinGasPrice$/.test(refused.method) ? WITH_BASE_FEE(refused) : UNKNOWN_METHOD(refused)
}

const NO_SUCH_FORK = told(({ method, facts: { needed, hardfork } }) => {
  if (needed === 'paris') {
    return `{method} is only available in post-merge hardforks, the current hardfork is ${String(hardfork).toUpperCase()}`
  }
  return method === 'eth_feeHistory'
    ? 'eth_feeHistory is disabled. It only works with the London hardfork or a later one.'
    : '{method} is disabled because EIP-1559 is not active'
})

const WITH_BASE_FEE = told('{method} is not supported when EIP-1559 is active')

export const HARDHAT_REFUSALS: Profile['refusals'] = {
  METHOD_NOT_FOUND: UNKNOWN_METHOD,
  METHOD_NOT_SUPPORTED: notSupported,
  INVALID_PARAMS: unfit,
  NOT_FOUND: (refused) =>
    /logs$|filter$/i.test(refused.method) && refused.facts.hash !== undefined
      ? UNKNOWN_LOGS(refused)
      : told(notFound)(refused),
  UNKNOWN_ACCOUNT: told(unknownAccount),
  ACCOUNT_LOCKED: AS_HERE,
  NONCE_TOO_LOW: told(nonceTooLow),
  NONCE_TOO_HIGH: told(nonceTooHigh),
  ALREADY_KNOWN: told(alreadyKnown),
  REPLACEMENT_UNDERPRICED: told(replacement),
  TRANSACTION_UNDERPRICED: told(
    'Transaction gas price is {given}, which is below the minimum of {least}',
  ),
  INSUFFICIENT_FUNDS: told(
    "Sender doesn't have enough funds to send tx. The max upfront cost is: {cost} and the sender's balance is: {balance}.",
  ),
  INTRINSIC_GAS_TOO_LOW: told('Transaction requires at least {least} gas but got {given}'),
  GAS_BELOW_FLOOR: told('Transaction requires gas floor of {floor} but got limit of {given}'),
  EXCEEDS_BLOCK_GAS_LIMIT: told(({ facts: { most } }) =>
    most === undefined
      ? '{message}'
      : 'Transaction gas limit is {given} and exceeds block gas limit of {most}',
  ),
  GAS_LIMIT_TOO_HIGH: told(
    'Transaction gas limit is {given} and exceeds transaction gas cap of {most}',
  ),
  FEE_CAP_TOO_LOW: told(feeCapTooLow),
  TIP_ABOVE_FEE_CAP: told('maxPriorityFeePerGas ({given}) is bigger than maxFeePerGas ({most})'),
  WRONG_CHAIN_ID: told(wrongChain, INVALID_PARAMS),
  INVALID_SIGNATURE: told('Invalid Signature', INVALID_PARAMS),
  TYPE_NOT_SUPPORTED: told(unknownType, INVALID_PARAMS),
  INIT_CODE_TOO_LARGE: told(
    "\nTrying to send a deployment transaction whose init code length is {given}. The max length allowed by EIP-3860 is {most}.\n\nEnable the 'allowUnlimitedContractSize' option to allow init codes of any length.",
    INVALID_PARAMS,
  ),
  EMPTY_AUTHORIZATION_LIST: told('Invalid EIP-7702 transaction: authorization list is empty.'),
  INVALID_BLOBS: told('{message}', INVALID_PARAMS),
  BLOB_FEE_CAP_TOO_LOW: AS_HERE,
  INVALID_SENDER: AS_HERE,
  POOL_FULL: AS_HERE,
}
