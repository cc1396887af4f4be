// What Hardhat's node refuses, in its words: an object with the message stands beside each.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { parseAddress } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, SERVER_ERROR } from './codes.ts'
import type { Profile, Refusal } from './profile.ts'
import type { Refused } from './refusal.ts'

type Words = (refused: Refused) => string

/** Words made of what is known. */
function told(code: number, words: Words): Refusal {
  return (refused) => {
    const message = words(refused)
    return { code, message, data: { message } }
  }
}

/** This program's words under Hardhat's number. */
const asHere: Refusal = told(SERVER_ERROR, ({ message }) => message)

const UNQUEUED = "Note that transactions can't be queued when automining."

const nonceTooLow: Words = ({ facts: { given, next, mayWait } }) =>
  mayWait === 1
    ? `Transaction nonce too low. Expected nonce to be at least ${next} but got ${given}.`
    : `Nonce too low. Expected nonce to be ${next} but got ${given}. ${UNQUEUED}`

const nonceTooHigh: Words = ({ facts: { given, next }, message }) =>
  next === undefined
    ? message
    : `Nonce too high. Expected nonce to be ${next} but got ${given}. ${UNQUEUED}`

/** One transaction is known while it waits; one that is in a block has a nonce that was used. */
const alreadyKnown: Words = (refused) => {
  const { hash, number } = refused.facts
  return number === undefined ? `Known transaction: ${hash}` : nonceTooLow(refused)
}

const replacement: Words = ({ facts: { nonce, fee, tip, given } }) => {
  const isFee = (given ?? 0n) < (fee ?? 0n)
  const [name, least] = isFee ? ['maxFeePerGas', fee] : ['maxPriorityFeePerGas', tip]
  return `Replacement transaction underpriced. A gasPrice/${name} of at least ${least} is necessary to replace the existing transaction with nonce ${nonce}.`
}

const feeCapTooLow: Words = ({ facts: { given, least, member = 'maxFeePerGas' } }) =>
  `Transaction ${member} (${given}) is too low for the next block, which has a baseFeePerGas of ${least}`

const unknownAccount: Words = ({ facts: { address }, message }) =>
  address === undefined
    ? message
    : `Unknown account ${checksumAddress(parseAddress(String(address)))}`

/** Hardhat words a chain id of a signature otherwise than one of a request. */
const wrongChain: Words = ({ method, facts: { given, chainId, type } }) => {
  if (method !== 'eth_sendRawTransaction') {
    return `Invalid chainId ${given} provided, expected ${chainId} instead.`
  }
  return type === 0
    ? 'Trying to send an incompatible EIP-155 transaction, signed for another chain.'
    : `Trying to send a raw transaction with an invalid chainId. The expected chainId is ${chainId}`
}

/** Hardhat names berlin for both types. */
const FROM_BERLIN = "You can use them by running Hardhat Network with 'hardfork' BERLIN or later."

const NO_LISTS = `Access list received but is not supported by the current hardfork. \n\n${FROM_BERLIN}\n        `

const NO_FEES = `EIP-1559 style fee params (maxFeePerGas or maxPriorityFeePerGas) received but they are not supported by the current hardfork.\n\n${FROM_BERLIN}\n        `

const NO_RAW_FEES = `Trying to send an EIP-1559 transaction but they are not supported by the current hard fork.${FROM_BERLIN}`

/** A type that is none, or none yet. */
const unknownType: Words = ({ method, facts: { type, needed, hardfork }, message }) => {
  if (type === undefined) return message
  if (needed === undefined) return `Invalid transaction type ${type}.`
  if (type === 4) {
    return `The transaction contains EIP-7702 parameters, but they are not supported by the current hardfork: ${String(hardfork).toUpperCase()}. Use the Prague hardfork (or later).`
  }
  if (type === 1) return NO_LISTS
  if (type === 2) return method === 'eth_sendRawTransaction' ? NO_RAW_FEES : NO_FEES
  return message
}

const notFound: Words = ({ facts: { number, hash, branch, transaction }, message, height }) => {
  if (transaction !== undefined) {
    return `Unable to find a block containing transaction ${transaction}`
  }
  const block = number ?? hash ?? branch
  if (block === undefined) return message
  return `Received invalid block tag ${block}. Latest block number is ${height}`
}

const SHORT_TRANSACTION: Refusal = told(INVALID_PARAMS, () => 'input too short')

const EARLY_TAG: Refusal = told(
  INVALID_PARAMS,
  ({ facts: { tag, hardfork } }) =>
    `The '${tag}' block tag is not allowed in pre-merge hardforks. You are using the '${String(hardfork).toUpperCase()}' hardfork.`,
)

/** Values that are of the right form and cannot be. */
const unfit: Refusal = (refused) => {
  if (refused.facts.waiting !== undefined) return poolNotEmpty
  if (refused.facts.tag !== undefined) return EARLY_TAG(refused)
  if (refused.facts.bytes === 0) return SHORT_TRANSACTION(refused)
  const message = unfitWords(refused)
  if (message !== undefined) return { code: SERVER_ERROR, message, data: { message } }
  return { code: INVALID_PARAMS, message: refused.message, data: { message: refused.message } }
}

function unfitWords({ facts, message }: Refused): string | undefined {
  const {
    both,
    timestamp,
    newest,
    blockCount,
    blockGasLimit,
    percentile,
    position,
    creates,
    nonce,
    existing,
  } = facts
  if (facts.isInput !== undefined) return message
  if (facts.overridden !== undefined) return TWO_STORAGES
  if (both !== undefined) {
    return `Cannot send both gasPrice and ${both}${both === 'maxFeePerGas' ? ' params' : ''}`
  }
  if (timestamp !== undefined) return tooEarly(timestamp, newest)
  if (blockCount !== undefined) {
    return `blockCount should be at ${blockCount === 0n ? 'least 1' : 'most 1024'}`
  }
  if (blockGasLimit === 0n) return 'Block gas limit must be greater than 0'
  if (percentile !== undefined) return percentileWords(percentile, Number(position))
  if (existing !== undefined) {
    return `New nonce (${nonce}) must not be smaller than the existing nonce (${existing})`
  }
  if (creates !== undefined) return 'Contract creation without any data provided'
  return undefined
}

const TWO_STORAGES =
  "The properties 'state' and 'stateDiff' cannot be used simultaneously when configuring the state override set passed to the eth_call method."

const poolNotEmpty: ErrorObject = {
  code: INTERNAL_ERROR,
  message: 'Cannot set account nonce when the transaction pool is not empty',
  data: { message: 'Cannot set account nonce when the transaction pool is not empty' },
}

type Fact = Refused['facts'][string]

function tooEarly(timestamp: Fact, newest: Fact | undefined): string {
  return timestamp === newest
    ? `Timestamp ${timestamp} is equal to the previous block's timestamp. Enable the 'allowBlocksWithSameTimestamp' option to allow this`
    : `Timestamp ${timestamp} is lower than the previous block's timestamp ${newest}`
}

function percentileWords(percentile: Fact, position: number): string {
  const isOutside = Number(percentile) < 0 || Number(percentile) > 100
  return isOutside
    ? `The reward percentile number ${position} is invalid. It must be a float between 0 and 100, but is ${percentile} instead.`
    : `The reward percentiles should be in non-decreasing order, but the percentile number ${position - 1} is greater than the next one`
}

const UNKNOWN_LOGS: Refusal = told(INVALID_PARAMS, () => 'blockHash cannot be found')

const unknownMethod: Refusal = told(-32004, ({ method }) => `Method ${method} is not supported`)

/** What there is, and not now. */
const notSupported: Refusal = (refused) => {
  if (refused.facts.needed !== undefined) return NO_SUCH_FORK(refused)
  return /setMinGasPrice$/.test(refused.method) ? noLeastPrice(refused) : unknownMethod(refused)
}

const NO_SUCH_FORK: Refusal = told(SERVER_ERROR, ({ method, facts: { needed, hardfork } }) => {
  if (needed === 'paris') {
    return `${method} is only available in post-merge hardforks, the current hardfork is ${String(hardfork).toUpperCase()}`
  }
  return method === 'eth_feeHistory'
    ? 'eth_feeHistory is disabled. It only works with the London hardfork or a later one.'
    : `${method} is disabled because EIP-1559 is not active`
})

const noLeastPrice: Refusal = told(
  SERVER_ERROR,
  ({ method }) => `${method} is not supported when EIP-1559 is active`,
)

export const HARDHAT_REFUSALS: Profile['refusals'] = {
  METHOD_NOT_FOUND: unknownMethod,
  METHOD_NOT_SUPPORTED: notSupported,
  INVALID_PARAMS: unfit,
  NOT_FOUND: (refused) =>
    /logs$|filter$/i.test(refused.method) && refused.facts.hash !== undefined
      ? UNKNOWN_LOGS(refused)
      : told(SERVER_ERROR, notFound)(refused),
  UNKNOWN_ACCOUNT: told(SERVER_ERROR, unknownAccount),
  ACCOUNT_LOCKED: asHere,
  NONCE_TOO_LOW: told(SERVER_ERROR, nonceTooLow),
  NONCE_TOO_HIGH: told(SERVER_ERROR, nonceTooHigh),
  ALREADY_KNOWN: told(SERVER_ERROR, alreadyKnown),
  REPLACEMENT_UNDERPRICED: told(SERVER_ERROR, replacement),
  TRANSACTION_UNDERPRICED: told(
    SERVER_ERROR,
    ({ facts: { given, least } }) =>
      `Transaction gas price is ${given}, which is below the minimum of ${least}`,
  ),
  INSUFFICIENT_FUNDS: told(
    SERVER_ERROR,
    ({ facts: { balance, cost } }) =>
      `Sender doesn't have enough funds to send tx. The max upfront cost is: ${cost} and the sender's balance is: ${balance}.`,
  ),
  INTRINSIC_GAS_TOO_LOW: told(
    SERVER_ERROR,
    ({ facts: { given, least } }) => `Transaction requires at least ${least} gas but got ${given}`,
  ),
  GAS_BELOW_FLOOR: told(
    SERVER_ERROR,
    ({ facts: { given, floor } }) =>
      `Transaction requires gas floor of ${floor} but got limit of ${given}`,
  ),
  EXCEEDS_BLOCK_GAS_LIMIT: told(SERVER_ERROR, ({ facts: { given, most }, message }) =>
    most === undefined
      ? message
      : `Transaction gas limit is ${given} and exceeds block gas limit of ${most}`,
  ),
  GAS_LIMIT_TOO_HIGH: told(
    SERVER_ERROR,
    ({ facts: { given, most } }) =>
      `Transaction gas limit is ${given} and exceeds transaction gas cap of ${most}`,
  ),
  FEE_CAP_TOO_LOW: told(SERVER_ERROR, feeCapTooLow),
  TIP_ABOVE_FEE_CAP: told(
    SERVER_ERROR,
    ({ facts: { given, most } }) =>
      `maxPriorityFeePerGas (${given}) is bigger than maxFeePerGas (${most})`,
  ),
  WRONG_CHAIN_ID: told(INVALID_PARAMS, wrongChain),
  INVALID_SIGNATURE: told(INVALID_PARAMS, () => 'Invalid Signature'),
  TYPE_NOT_SUPPORTED: told(INVALID_PARAMS, unknownType),
  INIT_CODE_TOO_LARGE: told(
    INVALID_PARAMS,
    ({ facts: { given, most } }) =>
      `\nTrying to send a deployment transaction whose init code length is ${given}. The max length allowed by EIP-3860 is ${most}.\n\nEnable the 'allowUnlimitedContractSize' option to allow init codes of any length.`,
  ),
  EMPTY_AUTHORIZATION_LIST: told(
    SERVER_ERROR,
    () => 'Invalid EIP-7702 transaction: authorization list is empty.',
  ),
  INVALID_BLOBS: told(INVALID_PARAMS, ({ message }) => message),
  BLOB_FEE_CAP_TOO_LOW: asHere,
  INVALID_SENDER: asHere,
  POOL_FULL: asHere,
}
