// Ganache 7.
import { EXECUTION_ERROR } from '../../evm/reasons.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { FailedExecution, FailureCause } from './failure.ts'
import { GWEI, OWN, type Profile } from './profile.ts'
import { isCall, SERVER_ERROR, TRANSACTION_REJECTED, type Wording } from './wording.ts'

const ETHER = 10n ** 18n

/** ganache's code for other errors. */
const ANY_ERROR = -32700

/** The position that its EVM adds to messages. */
const PLACE = '(vm hf=shanghai -> block -> tx)'

const insufficientFunds: Wording = ({ method }) =>
  isCall(method)
    ? { code: SERVER_ERROR, message: `${EXECUTION_ERROR}insufficient balance`, data: '0x' }
    : { code: TRANSACTION_REJECTED, message: 'insufficient funds for gas * price + value' }

const tooLittleGas: Wording = ({ method }) => {
  if (!isCall(method)) return 'intrinsic gas too low'
  return method === 'eth_estimateGas'
    ? { code: ANY_ERROR, message: `base fee exceeds gas limit ${PLACE}` }
    : { code: SERVER_ERROR, message: `${EXECUTION_ERROR}out of gas`, data: '0x' }
}

const UNKNOWN_METHOD: Wording = {
  code: ANY_ERROR,
  message: 'The method {method} does not exist/is not available',
}

const notFound: Wording = ({ facts: { number, hash, filter } }) => {
  if (filter !== undefined) return { code: ANY_ERROR, message: 'filter not found' }
  if (number === undefined && hash === undefined) return undefined
  return { code: ANY_ERROR, message: 'header not found' }
}

export const GANACHE: Profile = {
  ...OWN,
  defaults: {
    chainId: 1337n,
    balance: 1000n * ETHER,
    baseFee: GWEI,
    tip: GWEI,
    difficulty: 0n,
    sameTimestamp: true,
  },
  chain: {
    callsBelowBaseFee: true,
    estimatesAskForFunds: false,
    refusesBothPrices: false,
    keepsTypeWithoutPrice: false,
    oneTransactionABlock: false,
    callsSeeBaseFee: 'all',
    usualPrice: 2n * GWEI,
    offersTipOf: 'nobody',
  },
  block: { pendingNulls: [], hasTotals: true },
  clientVersion: (_, own) => `Ganache/EthereumJS TestRPC/${own}`,
  wildcardsNeedTopics: true,
  ack: true,
  secondsAhead: Number,
  failure,
  errors: {
    METHOD_NOT_FOUND: UNKNOWN_METHOD,
    METHOD_NOT_SUPPORTED: UNKNOWN_METHOD,
    NOT_FOUND: notFound,
    UNKNOWN_ACCOUNT: { code: ANY_ERROR, message: 'sender account not recognized' },
    INSUFFICIENT_FUNDS: insufficientFunds,
    NONCE_TOO_LOW:
      "the tx doesn't have the correct nonce. account has nonce of: {next} tx has nonce of: {given}",
    INTRINSIC_GAS_TOO_LOW: tooLittleGas,
    EXCEEDS_BLOCK_GAS_LIMIT: 'exceeds block gas limit',
    FEE_CAP_TOO_LOW: `${EXECUTION_ERROR}Transaction's maxFeePerGas ({given}) is less than the block's baseFeePerGas ({least}) ${PLACE}`,
  },
}

/** Errors of calls have the return data as data; those of estimates and transactions an object with it. */
function failure({ reason, data, hash, cause }: FailedExecution, method: string): ErrorObject {
  const kind = kindOf(cause, reason)
  const said = reasonOf(cause, data)
  const message = EXECUTION_ERROR + (said ? `${kind} ${said}` : kind)
  if (hash === undefined && method !== 'eth_estimateGas') {
    return { code: SERVER_ERROR, message, data }
  }
  const facts = { hash: hash ?? null, result: data, reason: said, message: kind }
  return { code: SERVER_ERROR, message, data: facts }
}

function kindOf(cause: FailureCause, reason: string): string {
  if (cause.kind !== 'halt') return 'revert'
  if (reason.startsWith('out of gas')) return 'out of gas'
  if (reason.startsWith('stack underflow')) return 'stack underflow'
  return reason.startsWith('invalid opcode') ? 'invalid opcode' : reason
}

/** The revert reason, which may be empty; null without one. */
function reasonOf(cause: FailureCause, data: string): string | null {
  if (cause.kind === 'text') return cause.text
  return cause.kind === 'revert' && data !== '0x' ? '' : null
}
