// geth: `geth --dev`, whose answers most libraries are written for.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { ErrorFacts } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { INTERNAL_ERROR, REVERTED, SERVER_ERROR } from './codes.ts'
import { type Cause, type FailedExecution, reverted } from './failure.ts'
import { adaptGethForms } from './gethforms.ts'
import { OWN, type Profile, type Refusal } from './profile.ts'
import { isCall } from './refusal.ts'

const GWEI = 10n ** 9n

/** Solidity's panics in geth's words. */
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

/** In the same words, but with geth's number for whatever has none of its own. */
const inTheseWords: Refusal = ({ message }) => ({ code: SERVER_ERROR, message })

function refusal(message: string): Refusal {
  return () => ({ code: SERVER_ERROR, message })
}

/** What geth's state transition says of a message that may not run, with the sender in capitals and small letters. */
type Words = (facts: ErrorFacts, sender: string) => string

/** Refused by the pool in these words, by a method that runs messages in the others, and whatever that says besides. */
function twoFold(pooled: Words | undefined, called: Words): Refusal {
  return ({ method, message, facts }) => {
    const { from, gasLimit } = facts
    if (from === undefined || !isCall(method)) {
      return { code: SERVER_ERROR, message: pooled?.(facts, '') ?? message }
    }
    const words = called(facts, checksumAddress(from as Address))
    return { code: SERVER_ERROR, message: asTold(method, words, gasLimit) }
  }
}

/** What stands around the words of the state transition. */
function asTold(method: string, words: string, gas: ErrorFacts[string] | undefined): string {
  if (method === 'eth_call') return `err: ${words} (supplied gas ${gas})`
  if (method === 'eth_estimateGas') return `failed with ${gas} gas: ${words}`
  return method === 'debug_traceCall' ? `tracing failed: ${words}` : words
}

const feeCapTooLow: Refusal = twoFold(
  undefined,
  ({ given, least }, sender) =>
    `max fee per gas less than block base fee: address ${sender}, maxFeePerGas: ${given}, baseFee: ${least}`,
)

const tipAboveCap: Refusal = twoFold(
  undefined,
  ({ given, most }, sender) =>
    `max priority fee per gas higher than max fee per gas: address ${sender}, maxPriorityFeePerGas: ${given}, maxFeePerGas: ${most}`,
)

const blobFeeTooLow: Refusal = twoFold(
  undefined,
  ({ given, least }, sender) =>
    `max fee per blob gas less than block blob gas fee: address ${sender} blobGasFeeCap: ${given}, blobBaseFee: ${least}`,
)

const invalidBlobs: Refusal = (refused) => twoFold(undefined, () => refused.message)(refused)

const longInitCode: Refusal = twoFold(
  undefined,
  ({ given, most }) => `max initcode size exceeded: code size ${given} limit ${most}`,
)

const belowFloor: Refusal = twoFold(
  ({ given, floor }) =>
    `insufficient gas for floor data gas cost: gas ${given}, minimum needed ${floor}`,
  ({ given, floor }) => `insufficient gas for floor data gas cost: have ${given}, want ${floor}`,
)

/** An estimate takes it for a search that ended. */
const notEnoughGas: Refusal = (refused) => {
  const { method, facts } = refused
  if (method === 'eth_estimateGas') return outOfAllowance(facts.given)
  return twoFold(
    ({ given, least }) => `intrinsic gas too low: gas ${given}, minimum needed ${least}`,
    ({ given, least }) => `intrinsic gas too low: have ${given}, want ${least}`,
  )(refused)
}

/** An estimate at a price looks at what is left of the balance before it runs anything. */
const notEnoughFunds: Refusal = (refused) => {
  const { balance, value, price } = refused.facts
  if (typeof price === 'bigint' && price > 0n) {
    const left = BigInt(balance ?? 0n) - BigInt(value ?? 0n)
    return left > 0n ? outOfAllowance(left / price) : NO_TRANSFER
  }
  return twoFold(
    ({ balance, cost }) =>
      `${NO_FUNDS}: balance ${balance}, tx cost ${cost}, overshot ${BigInt(cost ?? 0n) - BigInt(balance ?? 0n)}`,
    ({ balance, cost, value = cost }, sender) =>
      `${NO_FUNDS}: address ${sender} have ${balance} want ${value}`,
  )(refused)
}

const NO_FUNDS = 'insufficient funds for gas * price + value'

const NO_TRANSFER: ErrorObject = { code: SERVER_ERROR, message: 'insufficient funds for transfer' }

function outOfAllowance(gas: ErrorFacts[string] | undefined): ErrorObject {
  return { code: SERVER_ERROR, message: `gas required exceeds allowance (${gas})` }
}

/** State overrides that geth does not take. */
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

/** The last nonce of all is an error without a number of its own. */
const simulatedNonceTooHigh: Refusal = ({ facts: { beyond, given, from, gasLimit } }) => {
  if (beyond === undefined) return undefined
  const sender = `address ${checksumAddress(from as Address)}, nonce: ${given}`
  const message = `err: nonce has max value: ${sender} (supplied gas ${gasLimit})`
  return { code: INTERNAL_ERROR, message }
}

/** What a method did not find: geth's methods say it in words of their own. */
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
    UNKNOWN_ACCOUNT: refusal('unknown account'),
    ACCOUNT_LOCKED: refusal('authentication needed: password or unlock'),
    WRONG_PASSPHRASE: refusal('could not decrypt key with given password'),
    INVALID_BLOCK: inTheseWords,
    SIMULATED_NONCE_TOO_HIGH: simulatedNonceTooHigh,
    NONCE_TOO_LOW: inTheseWords,
    NONCE_TOO_HIGH: inTheseWords,
    ALREADY_KNOWN: refusal('already known'),
    REPLACEMENT_UNDERPRICED: refusal('replacement transaction underpriced'),
    TRANSACTION_UNDERPRICED: inTheseWords,
    INSUFFICIENT_FUNDS: notEnoughFunds,
    INTRINSIC_GAS_TOO_LOW: notEnoughGas,
    GAS_BELOW_FLOOR: belowFloor,
    EXCEEDS_BLOCK_GAS_LIMIT: refusal('exceeds block gas limit'),
    GAS_LIMIT_TOO_HIGH: inTheseWords,
    FEE_CAP_TOO_LOW: feeCapTooLow,
    TIP_ABOVE_FEE_CAP: tipAboveCap,
    WRONG_CHAIN_ID: inTheseWords,
    INVALID_SIGNATURE: inTheseWords,
    INVALID_SENDER: inTheseWords,
    TYPE_NOT_SUPPORTED: inTheseWords,
    INIT_CODE_TOO_LARGE: longInitCode,
    EMPTY_AUTHORIZATION_LIST: inTheseWords,
    INVALID_BLOBS: invalidBlobs,
    BLOB_FEE_CAP_TOO_LOW: blobFeeTooLow,
    POOL_FULL: inTheseWords,
  },
}

function failure({ reason, data, cause, allowance }: FailedExecution): ErrorObject {
  if (allowance !== undefined) return outOfAllowance(allowance)
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message: haltOf(reason) }
  return { code: REVERTED, message: reverted(gethReason(cause, data)), data }
}

/** geth names the opcode, or its number where it has no name. */
function haltOf(reason: string): string {
  const [, opcode] = /^invalid opcode 0x(..)/.exec(reason) ?? []
  if (opcode === undefined) return reason
  const name =
    opcode === 'fe' ? 'INVALID' : `opcode 0x${Number.parseInt(opcode, 16).toString(16)} not defined`
  return `invalid opcode: ${name}`
}

/** Undefined where nothing was said; an empty reason is a reason. */
function gethReason(cause: Cause, data: string): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind === 'revert' && data !== '0x') return ''
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}
