// geth: `geth --dev`, whose answers most libraries are written for.
import { checksumAddress } from '../../core/crypto/crypto.ts'
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

/** A call's message begins with `err:` and ends with the gas that it had. */
const notEnoughGas: Refusal = ({ method, message, facts: { given, least } }) => ({
  code: SERVER_ERROR,
  message: isCall(method)
    ? `err: ${message} (supplied gas ${given})`
    : `intrinsic gas too low: gas ${given}, minimum needed ${least}`,
})

const notEnoughFunds: Refusal = ({ method, message, facts: { balance, cost } }) => {
  if (isCall(method) || typeof balance !== 'bigint' || typeof cost !== 'bigint') {
    return { code: SERVER_ERROR, message }
  }
  const numbers = `balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`
  const told = `insufficient funds for gas * price + value: ${numbers}`
  return { code: SERVER_ERROR, message: told }
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
  chain: { precompilesShareAddress: true },
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
    EXCEEDS_BLOCK_GAS_LIMIT: refusal('exceeds block gas limit'),
    GAS_LIMIT_TOO_HIGH: inTheseWords,
    FEE_CAP_TOO_LOW: inTheseWords,
    TIP_ABOVE_FEE_CAP: inTheseWords,
    WRONG_CHAIN_ID: inTheseWords,
    INVALID_SIGNATURE: inTheseWords,
    INVALID_SENDER: inTheseWords,
    TYPE_NOT_SUPPORTED: inTheseWords,
    INIT_CODE_TOO_LARGE: inTheseWords,
    EMPTY_AUTHORIZATION_LIST: inTheseWords,
    INVALID_BLOBS: inTheseWords,
    BLOB_FEE_CAP_TOO_LOW: inTheseWords,
    POOL_FULL: inTheseWords,
  },
}

function failure({ reason, data, cause, allowance }: FailedExecution): ErrorObject {
  if (allowance !== undefined) {
    return { code: SERVER_ERROR, message: `gas required exceeds allowance (${allowance})` }
  }
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message: reason }
  return { code: REVERTED, message: reverted(gethReason(cause, data)), data }
}

/** Undefined where nothing was said; an empty reason is a reason. */
function gethReason(cause: Cause, data: string): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind === 'revert' && data !== '0x') return ''
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}
