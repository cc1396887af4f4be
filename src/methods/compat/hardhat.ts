// Hardhat: the network of `npx hardhat node`, versions 2 and 3.
import { parseAddress } from '../../core/hex.ts'
import { EXECUTION_ERROR } from '../../evm/reasons.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Json } from '../../rpc/schema.ts'
import type { FailedExecution, FailureCause } from './failure.ts'
import { HARDHAT_ERRORS } from './hardhaterrors.ts'
import { adaptHardhatForms } from './hardhatforms.ts'
import { GWEI, OWN, type Profile } from './profile.ts'
import { INTERNAL_ERROR, REVERTED, SERVER_ERROR } from './wording.ts'

const HARDHAT_PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'Generic compiler inserted panic'],
  [0x01n, 'Assertion error'],
  [0x11n, 'Arithmetic operation overflowed outside of an unchecked block'],
  [0x12n, 'Division or modulo division by zero'],
  [0x21n, 'Tried to convert a value into an enum, but the value was too big or negative'],
  [0x22n, 'Incorrectly encoded storage byte array'],
  [0x31n, '.pop() was called on an empty array'],
  [0x32n, 'Array accessed at an out-of-bounds or negative index'],
  [0x41n, 'Too much memory was allocated, or an array was created that is too large'],
  [0x51n, 'Called a zero-initialized variable of internal function type'],
])

/** Methods of the specification that Hardhat does not support. */
const ABSENT = [
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_getWork',
  'eth_hashrate',
  'eth_protocolVersion',
  'eth_signTransaction',
  'eth_signTypedData',
  'eth_signTypedData_v3',
  'eth_submitHashrate',
  'eth_submitWork',
]

const NO_REASON = 'Transaction reverted without a reason string'

const REVERTED_BECAUSE = 'Transaction reverted: '

export const HARDHAT: Profile = {
  ...OWN,
  defaults: {
    chainId: 31_337n,
    accounts: 20,
    gasLimit: 60_000_000n,
    baseFee: GWEI,
    tip: GWEI,
    defaultGas: 60_000_000n,
    difficulty: 0n,
    coinbase: parseAddress('0xc014ba5ec014ba5ec014ba5ec014ba5ec014ba5e'),
    onRevert: 'throw',
    consumeSnapshots: true,
  },
  chain: {
    gapsWait: false,
    callsBelowBaseFee: true,
    callsAskForFunds: false,
    estimatesAskForFunds: false,
    automineMinesPool: false,
    minesUntilIncluded: true,
    oneTransactionABlock: false,
    limitEmptiesPool: true,
    noncesGoBack: false,
    capsTransactionGas: true,
    callsAskForType: true,
    finalityNeedsParis: true,
    cheapOnesWait: true,
    callsSeeBaseFee: 'none',
    backwardRangesAreEmpty: true,
    needsSender: false,
    increasesMoveSetTime: false,
    callsComeFromFirst: true,
    usualPriceBeforeLondon: 8n * GWEI,
    offersPriceToLast: false,
    offersTipOf: 'nobody',
    keepsTypeWithoutPrice: false,
    setRandomnessGoesOn: true,
    noncesBeforeParis: true,
    snapshotIdsGoOn: false,
    creationsNeedData: true,
  },
  absent: ABSENT,
  adaptForms: adaptHardhatForms,
  reportsMining: false,
  block: { pendingNulls: ['number', 'nonce', 'mixHash'], hasTotals: true },
  clientVersion: (_, own) => `HardhatNetwork/${own}`,
  mined: '0',
  filters: 'lenient',
  filterHistory: 'all',
  wildcardsNeedTopics: true,
  pollsSubscriptions: true,
  pendingTransactions: 'all',
  hasLeastPriceWithBaseFee: false,
  ack: true,
  intervalUnitMs: 1,
  intervalsKeepAutomine: true,
  secondsAhead: String,
  nextTimestamp: String,
  ignoresForks: false,
  leastGasLimit: 1n,
  omittedMembers,
  emptyReward: 'absent',
  failure: failureAs(3),
  errors: HARDHAT_ERRORS,
  errorsRepeatMessage: true,
}

export const HARDHAT2: Profile = { ...HARDHAT, failure: failureAs(2) }

/** Members that a later hardfork added. Legacy transactions never have a chain id. */
function omittedMembers({ type }: Transaction, hardfork: Hardfork): readonly string[] {
  return [
    ...(isAtLeast(hardfork, 'berlin') ? [] : ['type']),
    ...(isAtLeast(hardfork, 'london') ? [] : ['effectiveGasPrice']),
    ...(type === 0 ? ['chainId'] : []),
  ]
}

/** Errors of failed executions in the form of one Hardhat version: version 2 includes the transaction hash. */
function failureAs(version: 2 | 3): (failed: FailedExecution) => ErrorObject {
  return (failed) => {
    const { reason, data, hash, cause } = failed
    const message = sourceMessage(failed) ?? hardhatMessage(cause, reason, data)
    if (cause.kind === 'halt' && reason.startsWith('out of gas')) {
      const noHash = version === 2 ? { message, txHash: null, data } : { message, data }
      const named = hash === undefined ? noHash : facts(message, hash, data)
      return { code: SERVER_ERROR, message, data: named }
    }
    if (version === 3) return { code: REVERTED, message, data }
    const prefixed = `Error: ${message}`
    return { code: INTERNAL_ERROR, message: prefixed, data: facts(prefixed, hash, data) }
  }
}

function facts(message: string, hash: string | undefined, data: string): Json {
  return hash === undefined ? { message, data } : { message, txHash: hash, data }
}

/** The message if the project's source explains the failure; else undefined. */
function sourceMessage({ cause, sourceCause: known }: FailedExecution): string | undefined {
  if (known === undefined || cause.kind === 'halt') return undefined
  switch (known.kind) {
    case 'customError':
      return cause.kind === 'custom'
        ? `${EXECUTION_ERROR}reverted with custom error '${known.text}'`
        : undefined
    case 'missingFunction': {
      const absent = known.hasCalldata ? 'fallback' : 'fallback nor receive'
      return `${REVERTED_BECAUSE}function selector was not recognized and there's no ${absent} function`
    }
    case 'notPayable':
      return `${REVERTED_BECAUSE}${known.isFallback ? 'fallback function is not payable and' : 'non-payable function'} was called with value ${known.value}`
    case 'badArguments':
      return `${REVERTED_BECAUSE}function was called with incorrect parameters`
    case 'noCode':
      return `${REVERTED_BECAUSE}function call to a non-contract account`
    case 'badReturnData':
      return `${REVERTED_BECAUSE}function returned an unexpected amount of data`
  }
}

function hardhatMessage(cause: FailureCause, reason: string, data: string): string {
  switch (cause.kind) {
    case 'text':
      return `${EXECUTION_ERROR}reverted with reason string '${cause.text}'`
    case 'panic': {
      const name = HARDHAT_PANICS.get(cause.code)
      const code = `0x${cause.code.toString(16)}`
      return name === undefined
        ? `${EXECUTION_ERROR}reverted with unknown panic code ${code}`
        : `${EXECUTION_ERROR}reverted with panic code ${code} (${name})`
    }
    case 'custom':
      return `${EXECUTION_ERROR}reverted with an unrecognized custom error (return data: ${data})`
    case 'revert':
      // an empty reason is a reason
      return data === '0x' ? NO_REASON : `${EXECUTION_ERROR}reverted with reason string ''`
    case 'halt':
      if (reason.startsWith('out of gas')) return 'Transaction ran out of gas'
      return reason.startsWith('invalid opcode') ? `${EXECUTION_ERROR}invalid opcode` : NO_REASON
  }
}
