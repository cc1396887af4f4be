// geth: `geth --dev`, which most libraries are written for.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { type FailedExecution, type FailureCause, reverted } from './failure.ts'
import { adaptGethForms } from './gethforms.ts'
import { GWEI, OWN, type Profile } from './profile.ts'
import {
  INTERNAL_ERROR,
  isCall,
  REVERTED,
  SAME_MESSAGE,
  SERVER_ERROR,
  type Wording,
} from './wording.ts'

const GETH_PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic panic'],
  [0x01n, 'assert(false)'],
  [0x11n, 'arithmetic underflow or overflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'enum overflow'],
  [0x22n, 'invalid encoded storage byte array accessed'],
  [0x31n, 'out-of-bounds array access; popping on an empty array'],
  [0x32n, 'out-of-bounds access of an array or bytesN'],
  [0x41n, 'out of memory'],
  [0x51n, 'uninitialized function'],
])

/**
 * One message for refusals by the pool, another for methods that run messages: that of geth's state transition, with the
 * {sender} in mixed case, and the method's own prefix.
 */
function byUse(pooled: string, called: string): Wording {
  return ({ method, facts: { from } }) => {
    if (from === undefined || !isCall(method)) return pooled
    const message = called.replace('{sender}', checksumAddress(from as Address))
    if (method === 'eth_call') return `err: ${message} (supplied gas {gasLimit})`
    if (method === 'eth_estimateGas') return `failed with {gasLimit} gas: ${message}`
    return method === 'debug_traceCall' ? `tracing failed: ${message}` : message
  }
}

/** An estimate treats it as a finished search. */
const notEnoughGas: Wording = ({ method }) =>
  method === 'eth_estimateGas'
    ? 'gas required exceeds allowance ({given})'
    : byUse(
        'intrinsic gas too low: gas {given}, minimum needed {least}',
        'intrinsic gas too low: have {given}, want {least}',
      )

/** An estimate with a price checks the remaining balance before it runs anything. */
const notEnoughFunds: Wording = ({ facts: { balance = 0n, cost = 0n, value, price } }) => {
  if (typeof price === 'bigint' && price > 0n) {
    const left = BigInt(balance) - BigInt(value ?? 0n)
    if (left <= 0n) return 'insufficient funds for transfer'
    return `gas required exceeds allowance (${left / price})`
  }
  const overshot = BigInt(cost) - BigInt(balance)
  return byUse(
    `insufficient funds for gas * price + value: balance {balance}, tx cost {cost}, overshot ${overshot}`,
    `insufficient funds for gas * price + value: address {sender} have {balance} want ${value ?? cost}`,
  )
}

/** State overrides that geth refuses. */
const badOverride: Wording = ({ facts: { unmovable, destination, overridden } }) => {
  const account = (address: unknown): string => `account ${checksumAddress(address as Address)}`
  if (unmovable !== undefined) return `${account(unmovable)} is not a precompile`
  if (destination !== undefined) return `${account(destination)} is already overridden`
  if (overridden === undefined) return undefined
  return `${account(overridden)} has both 'state' and 'stateDiff'`
}

/** The highest nonce gets an error without a code of its own. */
const simulatedNonceTooHigh: Wording = ({ facts: { beyond, from } }) => {
  if (beyond === undefined) return undefined
  const sender = `address ${checksumAddress(from as Address)}, nonce: {given}`
  const message = `err: nonce has max value: ${sender} (supplied gas {gasLimit})`
  return { code: INTERNAL_ERROR, message }
}

/** geth's methods have their own wording for missing items. */
const notFound: Wording = ({ method, facts: { branch, transaction, filter, number, hash } }) => {
  const isTrace = /^debug_trace/.test(method)
  if (branch !== undefined) return 'hash is not currently canonical'
  if (transaction !== undefined) return 'transaction not found'
  if (filter !== undefined) return 'filter not found'
  if (number !== undefined) return isTrace ? 'block #{number} not found' : 'header not found'
  if (hash === undefined) return SAME_MESSAGE
  if (isTrace) return 'block {hash} not found'
  return /Logs$|ilter/.test(method) ? 'unknown block' : 'header for hash not found'
}

export const GETH: Profile = {
  ...OWN,
  defaults: { chainId: 1337n, baseFee: GWEI, tip: 1n, defaultGas: 'estimate', difficulty: 0n },
  chain: { precompilesShareAddress: true, callGas: 50_000_000n, estimatesAreExact: false },
  clientVersion: (_, own) => `Geth/${own}`,
  emptyReward: 'absent',
  block: { pendingNulls: ['hash', 'nonce', 'miner'], hasTotals: false },
  adaptForms: adaptGethForms,
  emptyTrieProof: [],
  tracesGenesis: false,
  logsBeyondHead: 'none',
  wildcardsNeedTopics: true,
  poolSender: (sender) => checksumAddress(sender),
  failure,
  errors: {
    NOT_FOUND: notFound,
    INVALID_PARAMS: badOverride,
    PRECOMPILE_MOVED_TO_ITSELF: badOverride,
    UNKNOWN_ACCOUNT: 'unknown account',
    ACCOUNT_LOCKED: 'authentication needed: password or unlock',
    WRONG_PASSPHRASE: 'could not decrypt key with given password',
    INVALID_BLOCK: SAME_MESSAGE,
    SIMULATED_NONCE_TOO_HIGH: simulatedNonceTooHigh,
    NONCE_TOO_LOW: SAME_MESSAGE,
    NONCE_TOO_HIGH: SAME_MESSAGE,
    ALREADY_KNOWN: 'already known',
    REPLACEMENT_UNDERPRICED: 'replacement transaction underpriced',
    TRANSACTION_UNDERPRICED: SAME_MESSAGE,
    INSUFFICIENT_FUNDS: notEnoughFunds,
    INTRINSIC_GAS_TOO_LOW: notEnoughGas,
    GAS_BELOW_FLOOR: byUse(
      'insufficient gas for floor data gas cost: gas {given}, minimum needed {floor}',
      'insufficient gas for floor data gas cost: have {given}, want {floor}',
    ),
    EXCEEDS_BLOCK_GAS_LIMIT: 'exceeds block gas limit',
    GAS_LIMIT_TOO_HIGH: SAME_MESSAGE,
    FEE_CAP_TOO_LOW: byUse(
      SAME_MESSAGE,
      'max fee per gas less than block base fee: address {sender}, maxFeePerGas: {given}, baseFee: {least}',
    ),
    TIP_ABOVE_FEE_CAP: byUse(
      SAME_MESSAGE,
      'max priority fee per gas higher than max fee per gas: address {sender}, maxPriorityFeePerGas: {given}, maxFeePerGas: {most}',
    ),
    WRONG_CHAIN_ID: SAME_MESSAGE,
    INVALID_SIGNATURE: SAME_MESSAGE,
    INVALID_SENDER: SAME_MESSAGE,
    TYPE_NOT_SUPPORTED: SAME_MESSAGE,
    INIT_CODE_TOO_LARGE: byUse(
      SAME_MESSAGE,
      'max initcode size exceeded: code size {given} limit {most}',
    ),
    EMPTY_AUTHORIZATION_LIST: SAME_MESSAGE,
    INVALID_BLOBS: byUse(SAME_MESSAGE, SAME_MESSAGE),
    BLOB_FEE_CAP_TOO_LOW: byUse(
      SAME_MESSAGE,
      'max fee per blob gas less than block blob gas fee: address {sender} blobGasFeeCap: {given}, blobBaseFee: {least}',
    ),
    POOL_FULL: SAME_MESSAGE,
  },
}

function failure({ reason, data, cause, allowance }: FailedExecution): ErrorObject {
  if (allowance !== undefined) {
    return { code: SERVER_ERROR, message: `gas required exceeds allowance (${allowance})` }
  }
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message: haltOf(reason) }
  return { code: REVERTED, message: reverted(gethReason(cause, data)), data }
}

/** geth prints the opcode's name, or its number if it has none. */
function haltOf(reason: string): string {
  const [, opcode] = /^invalid opcode 0x(..)/.exec(reason) ?? []
  if (opcode === undefined) return reason
  const name =
    opcode === 'fe' ? 'INVALID' : `opcode 0x${Number.parseInt(opcode, 16).toString(16)} not defined`
  return `invalid opcode: ${name}`
}

/** Undefined without a reason; an empty reason is a reason. */
function gethReason(cause: FailureCause, data: string): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind === 'revert' && data !== '0x') return ''
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}
