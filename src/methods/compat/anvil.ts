// anvil 1.7: Foundry's node.
import { isUtf8 } from 'node:buffer'
import { hexFromBytes, parseBytes } from '../../core/hex.ts'
import { stringAt } from '../../evm/reasons.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { type FailedExecution, type FailureCause, reverted } from './failure.ts'
import { GWEI, OWN, type Profile } from './profile.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isCall,
  NOT_FOUND,
  REVERTED,
  SERVER_ERROR,
  TRANSACTION_REJECTED,
  type Wording,
} from './wording.ts'

const ANVIL_PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic/unspecified error'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic underflow or overflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'failed to convert value into enum type'],
  [0x22n, 'storage byte array incorrectly encoded'],
  [0x31n, 'called `.pop()` on an empty array'],
  [0x32n, 'array out-of-bounds access'],
  [0x41n, 'memory allocation error'],
  [0x51n, 'called an invalid internal function'],
])

const ANVIL_HALTS: readonly (readonly [RegExp, string])[] = [
  [/^out of gas/, 'OutOfGas'],
  [/^invalid opcode 0xfe/, 'InvalidFEOpcode'],
  [/^invalid opcode/, 'OpcodeNotFound'],
  [/^stack underflow/, 'StackUnderflow'],
  [/^stack overflow/, 'StackOverflow'],
  [/^invalid jump/, 'InvalidJump'],
  [/^write protection/, 'StateChangeDuringStaticCall'],
  [/collision/, 'CreateCollision'],
  [/^max code size/, 'CreateContractSizeLimit'],
  [/^max initcode size/, 'CreateInitCodeSizeLimit'],
  [/^return data/, 'OutOfOffset'],
  [/^precompile failed/, 'PrecompileError'],
]

const NO_SIGNER: Wording = { code: INVALID_PARAMS, message: 'No Signer available' }

const NO_FUNDS = 'Insufficient funds for gas * price + value'

const NONCE_TOO_LOW = 'nonce too low'

const LONG_INIT_CODE = 'max initcode size exceeded'

const TOO_EARLY: Wording = {
  code: INVALID_PARAMS,
  message: "Timestamp error: {timestamp} is lower than previous block's timestamp",
}

const UNDECODABLE: Wording = { code: INVALID_PARAMS, message: 'Failed to decode transaction' }

/** anvil uses one error for a call's gas whether too low or too high; an estimate runs out of gas. */
const tooLittleGas: Wording = ({ method, facts: { given, floor } }) => {
  if (method === 'eth_estimateGas') return outOfAllowance(given)
  const kind = floor === undefined ? 'CallGasCostMoreThanGasLimit' : 'GasFloorMoreThanGasLimit'
  const message = isCall(method) ? `intrinsic gas too high -- ${kind}` : 'intrinsic gas too low'
  return { code: SERVER_ERROR, message }
}

function outOfAllowance(gas: unknown): ErrorObject {
  const message = `Out of gas: gas required exceeds allowance: ${gas}`
  return { code: TRANSACTION_REJECTED, message }
}

const tipAboveCap: Wording = ({ method }) => {
  if (!isCall(method)) return 'max priority fee per gas higher than max fee per gas'
  const message = 'Invalid input: `max_priority_fee_per_gas` greater than `max_fee_per_gas`'
  return { code: INVALID_PARAMS, message }
}

const wrongChain: Wording = ({ method }) => {
  if (!/^eth_(send|sign)Transaction$/.test(method)) return 'invalid chain id for signer'
  const message =
    "transaction-provided chain ID ({given}) does not match the signer's chain ID ({chainId})"
  return { code: INVALID_PARAMS, message }
}

const NO_RESOURCE: Wording = { code: NOT_FOUND, message: 'Resource not found' }

function outOfRange(asked: bigint | number | string): ErrorObject {
  const message = `BlockOutOfRangeError: block height is {height} but requested was ${asked}`
  return { code: INVALID_PARAMS, message }
}

/** The state after a block that a loaded dump lacks. */
function stateNotFound(method: string, block: bigint | number | string): Wording {
  if (/_(rollback|reorg)$/.test(method)) {
    return { code: INTERNAL_ERROR, message: 'Required data unavailable' }
  }
  if (/^(eth_|debug_traceCall)/.test(method)) return outOfRange(block)
  return /^(debug_)?trace/.test(method) ? NO_RESOURCE : undefined
}

const notFound: Wording = ({ method, facts }) => {
  const { number, hash, transaction, filter, stateOf } = facts
  if (transaction !== undefined) return undefined
  if (filter !== undefined) return { code: SERVER_ERROR, message: 'filter not found' }
  if (stateOf !== undefined) return stateNotFound(method, stateOf)
  if (hash !== undefined && /Logs$|ilter/.test(method)) {
    return { code: SERVER_ERROR, message: 'unknown block' }
  }
  if (hash !== undefined || (number !== undefined && method.startsWith('debug_trace'))) {
    return NO_RESOURCE
  }
  return number === undefined ? undefined : outOfRange(number)
}

export const ANVIL: Profile = {
  ...OWN,
  defaults: {
    chainId: 31_337n,
    baseFee: GWEI,
    tip: GWEI,
    defaultGas: 'estimate',
    difficulty: 0n,
    sameTimestamp: true,
  },
  chain: {
    callsBelowBaseFee: true,
    estimatesRunTransfers: false,
    needsSender: false,
    increasesMoveSetTime: false,
    refusesBothPrices: false,
    keepsTypeWithoutPrice: false,
    poolAsksForBaseFee: true,
    oneTransactionABlock: false,
    firstBaseFeeStays: true,
    replacementsRaiseTip: false,
    dropsPricedOut: true,
    offersPriceToLast: false,
    offersTipOf: 'newest',
    capCoversTip: false,
    intervalsMoveClock: false,
    refusesFailingEstimates: false,
    callsSeeBaseFee: 'all',
    backwardRangesAreEmpty: true,
    blocksInEpoch: 32n,
  },
  block: { pendingNulls: [], hasTotals: true },
  clientVersion: ({ name, version }) => `anvil/v1.7.1+${name}.${version}`,
  refusesUrlWithoutFork: false,
  secondsAhead: Number,
  hasLeastPriceWithBaseFee: false,
  emptyReward: 'empty',
  filterHistory: 'named',
  traceFilterMode: 'union',
  logsBeyondHead: 'end',
  returnsFailedAccessLists: false,
  receiptsHaveBlockFields: true,
  failure,
  errors: {
    UNKNOWN_ACCOUNT: NO_SIGNER,
    ACCOUNT_LOCKED: NO_SIGNER,
    METHOD_NOT_SUPPORTED: ({ method }) =>
      method.endsWith('_setMinGasPrice')
        ? { code: INVALID_PARAMS, message: '{method} is not supported when EIP-1559 is active' }
        : undefined,
    NOT_FOUND: notFound,
    INVALID_PARAMS: ({ facts: { timestamp } }) => (timestamp === undefined ? undefined : TOO_EARLY),
    NONCE_TOO_LOW,
    // a mined transaction has a used nonce
    ALREADY_KNOWN: ({ facts: { number } }) =>
      number === undefined ? 'transaction already imported' : NONCE_TOO_LOW,
    REPLACEMENT_UNDERPRICED: 'replacement transaction underpriced',
    INSUFFICIENT_FUNDS: NO_FUNDS,
    INTRINSIC_GAS_TOO_LOW: tooLittleGas,
    GAS_BELOW_FLOOR: tooLittleGas,
    EXCEEDS_BLOCK_GAS_LIMIT: {
      code: SERVER_ERROR,
      message: 'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
    },
    FEE_CAP_TOO_LOW: 'max fee per gas less than block base fee',
    TIP_ABOVE_FEE_CAP: tipAboveCap,
    WRONG_CHAIN_ID: wrongChain,
    INVALID_SIGNATURE: UNDECODABLE,
    // raw transactions are decoded before they are checked
    TYPE_NOT_SUPPORTED: ({ method }) =>
      method.startsWith('eth_sendRaw') ? UNDECODABLE : undefined,
    INIT_CODE_TOO_LARGE: LONG_INIT_CODE,
    SIMULATED_INSUFFICIENT_FUNDS: NO_FUNDS,
    SIMULATED_INTRINSIC_GAS_TOO_LOW: tooLittleGas,
    SIMULATED_INIT_CODE_TOO_LARGE: LONG_INIT_CODE,
  },
  errorCode: TRANSACTION_REJECTED,
}

function failure({ reason, data, cause, allowance }: FailedExecution): ErrorObject {
  if (allowance !== undefined) return outOfAllowance(allowance)
  if (cause.kind === 'halt') {
    const name = ANVIL_HALTS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason
    return { code: INTERNAL_ERROR, message: `EVM error ${name}` }
  }
  return { code: REVERTED, message: reverted(anvilReason(cause, data)), data }
}

/** Undefined without a reason. */
function anvilReason(cause: FailureCause, data: string): string | undefined {
  switch (cause.kind) {
    case 'text':
      return cause.text
    case 'panic': {
      const digits = `0x${cause.code.toString(16).padStart(2, '0')}`
      return `panic: ${ANVIL_PANICS.get(cause.code) ?? 'unknown code'} (${digits})`
    }
    case 'custom':
      return customReason(parseBytes(data))
    default:
      return data === '0x' ? undefined : ''
  }
}

/** Bytes that are text are shown as text; else the selector, and the rest as text if it is UTF-8. */
function customReason(data: Uint8Array): string {
  const text = stringAt(data) ?? (data.every((byte) => byte < 0x80) ? utf8Of(data) : undefined)
  if (text !== undefined) return text
  if (data.length < 4) return `custom error bytes ${hexFromBytes(data)}`
  const selector = `custom error ${hexFromBytes(data.subarray(0, 4))}`
  const rest = data.subarray(4)
  return rest.length === 0
    ? selector
    : `${selector}: ${utf8Of(rest) ?? hexFromBytes(rest).slice(2)}`
}

function utf8Of(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : undefined
}
