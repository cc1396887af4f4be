// geth: `geth --dev`, which most libraries are written for.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { ErrorFacts } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { type Cause, type FailedExecution, reverted } from './failure.ts'
import { adaptGethForms } from './gethforms.ts'
import { OWN, type Profile } from './profile.ts'
import {
  filledIn,
  INTERNAL_ERROR,
  isCall,
  REVERTED,
  type Refusal,
  refusal,
  SERVER_ERROR,
  type Words,
} from './refusal.ts'

const GWEI = 10n ** 9n

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

/** The same message with geth's code for errors without a code of their own. */
const IN_THESE_WORDS = refused('{message}')

function refused(words: Words): Refusal {
  return refusal(SERVER_ERROR, words)
}

/**
 * One wording for refusals by the pool, another for methods that run messages: that of geth's state transition, with the
 * {sender} in mixed and lower case, and the method's own prefix.
 */
function twoFold(pooled: Words, called: Words): Refusal {
  return (refused) => {
    const { method, facts } = refused
    const { from, gasLimit } = facts
    if (from === undefined || !isCall(method)) {
      return { code: SERVER_ERROR, message: filledIn(pooled, refused) }
    }
    const sender = checksumAddress(from as Address)
    const words = filledIn(called, { ...refused, facts: { ...facts, sender } })
    return { code: SERVER_ERROR, message: asTold(method, words, gasLimit) }
  }
}

/** Wraps the state transition's words. */
function asTold(method: string, words: string, gas: ErrorFacts[string] | undefined): string {
  if (method === 'eth_call') return `err: ${words} (supplied gas ${gas})`
  if (method === 'eth_estimateGas') return `failed with ${gas} gas: ${words}`
  return method === 'debug_traceCall' ? `tracing failed: ${words}` : words
}

const INTRINSIC_GAS_TOO_LOW = twoFold(
  'intrinsic gas too low: gas {given}, minimum needed {least}',
  'intrinsic gas too low: have {given}, want {least}',
)

/** An estimate treats it as a finished search. */
const notEnoughGas: Refusal = (refused) =>
  refused.method === 'eth_estimateGas'
    ? outOfAllowance(refused.facts.given)
    : INTRINSIC_GAS_TOO_LOW(refused)

/** An estimate with a price checks the remaining balance before it runs anything. */
const notEnoughFunds: Refusal = (refused) => {
  const { facts } = refused
  const { balance, cost, value, price } = facts
  if (typeof price === 'bigint' && price > 0n) {
    const left = BigInt(balance ?? 0n) - BigInt(value ?? 0n)
    return left > 0n ? outOfAllowance(left / price) : NO_TRANSFER
  }
  const overshot = BigInt(cost ?? 0n) - BigInt(balance ?? 0n)
  return NOT_ENOUGH_FUNDS({ ...refused, facts: { value: cost ?? 0n, ...facts, overshot } })
}

const NOT_ENOUGH_FUNDS = twoFold(
  'insufficient funds for gas * price + value: balance {balance}, tx cost {cost}, overshot {overshot}',
  'insufficient funds for gas * price + value: address {sender} have {balance} want {value}',
)

const NO_TRANSFER: ErrorObject = { code: SERVER_ERROR, message: 'insufficient funds for transfer' }

function outOfAllowance(gas: ErrorFacts[string] | undefined): ErrorObject {
  return { code: SERVER_ERROR, message: `gas required exceeds allowance (${gas})` }
}

/** State overrides that geth refuses. */
const badOverride: Refusal = ({ facts: { unmovable, destination, overridden } }) => {
  const account = (address: unknown): string => `account ${checksumAddress(address as Address)}`
  let told: string | undefined
  if (unmovable !== undefined) told = `${account(unmovable)} is not a precompile`
  else if (destination !== undefined) told = `${account(destination)} is already overridden`
  else if (overridden !== undefined) {
    told = `${account(overridden)} has both 'state' and 'stateDiff'`
  }
  return told === undefined ? undefined : { code: SERVER_ERROR, message: told }
}

/** The highest nonce gets an error without a code of its own. */
const simulatedNonceTooHigh: Refusal = ({ facts: { beyond, given, from, gasLimit } }) => {
  if (beyond === undefined) return undefined
  const sender = `address ${checksumAddress(from as Address)}, nonce: ${given}`
  const message = `err: nonce has max value: ${sender} (supplied gas ${gasLimit})`
  return { code: INTERNAL_ERROR, message }
}

/** geth's methods have their own wording for missing items. */
const notThere: Refusal = ({ method, message, facts }) => {
  const { number, hash } = facts
  const isTrace = /^debug_trace/.test(method)
  let told = message
  if (facts.branch !== undefined) told = 'hash is not currently canonical'
  else if (facts.transaction !== undefined) told = 'transaction not found'
  else if (facts.filter !== undefined) told = 'filter not found'
  else if (number !== undefined) told = isTrace ? `block #${number} not found` : 'header not found'
  else if (hash !== undefined && isTrace) told = `block ${hash} not found`
  else if (hash !== undefined) {
    told = /Logs$|ilter/.test(method) ? 'unknown block' : 'header for hash not found'
  }
  return { code: SERVER_ERROR, message: told }
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
  poolSender: (sender) => checksumAddress(sender),
  failure,
  refusals: {
    NOT_FOUND: notThere,
    INVALID_PARAMS: badOverride,
    PRECOMPILE_MOVED_TO_ITSELF: badOverride,
    UNKNOWN_ACCOUNT: refused('unknown account'),
    ACCOUNT_LOCKED: refused('authentication needed: password or unlock'),
    WRONG_PASSPHRASE: refused('could not decrypt key with given password'),
    INVALID_BLOCK: IN_THESE_WORDS,
    SIMULATED_NONCE_TOO_HIGH: simulatedNonceTooHigh,
    NONCE_TOO_LOW: IN_THESE_WORDS,
    NONCE_TOO_HIGH: IN_THESE_WORDS,
    ALREADY_KNOWN: refused('already known'),
    REPLACEMENT_UNDERPRICED: refused('replacement transaction underpriced'),
    TRANSACTION_UNDERPRICED: IN_THESE_WORDS,
    INSUFFICIENT_FUNDS: notEnoughFunds,
    INTRINSIC_GAS_TOO_LOW: notEnoughGas,
    GAS_BELOW_FLOOR: twoFold(
      'insufficient gas for floor data gas cost: gas {given}, minimum needed {floor}',
      'insufficient gas for floor data gas cost: have {given}, want {floor}',
    ),
    EXCEEDS_BLOCK_GAS_LIMIT: refused('exceeds block gas limit'),
    GAS_LIMIT_TOO_HIGH: IN_THESE_WORDS,
    FEE_CAP_TOO_LOW: twoFold(
      '{message}',
      'max fee per gas less than block base fee: address {sender}, maxFeePerGas: {given}, baseFee: {least}',
    ),
    TIP_ABOVE_FEE_CAP: twoFold(
      '{message}',
      'max priority fee per gas higher than max fee per gas: address {sender}, maxPriorityFeePerGas: {given}, maxFeePerGas: {most}',
    ),
    WRONG_CHAIN_ID: IN_THESE_WORDS,
    INVALID_SIGNATURE: IN_THESE_WORDS,
    INVALID_SENDER: IN_THESE_WORDS,
    TYPE_NOT_SUPPORTED: IN_THESE_WORDS,
    INIT_CODE_TOO_LARGE: twoFold(
      '{message}',
      'max initcode size exceeded: code size {given} limit {most}',
    ),
    EMPTY_AUTHORIZATION_LIST: IN_THESE_WORDS,
    INVALID_BLOBS: twoFold('{message}', '{message}'),
    BLOB_FEE_CAP_TOO_LOW: twoFold(
      '{message}',
      'max fee per blob gas less than block blob gas fee: address {sender} blobGasFeeCap: {given}, blobBaseFee: {least}',
    ),
    POOL_FULL: IN_THESE_WORDS,
  },
}

function failure({ reason, data, cause, allowance }: FailedExecution): ErrorObject {
  if (allowance !== undefined) return outOfAllowance(allowance)
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
function gethReason(cause: Cause, data: string): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind === 'revert' && data !== '0x') return ''
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}
