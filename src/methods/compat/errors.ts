// Failed executions in the codes, words and data of other nodes, each as it was seen to answer.
import { EXECUTION_ERROR } from '../../node/simulate.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Cause, FailedExecution } from './failure.ts'

type Wording = (failed: FailedExecution) => ErrorObject

/** Code of a revert whose data is the output (execution-apis). */
const REVERTED = 3

const SERVER_ERROR = -32000

const INTERNAL_ERROR = -32603

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

/** Solidity's panics in anvil's words. */
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

/** Solidity's panics in Hardhat's words. */
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

/** Anvil names halts as its engine does. */
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
]

export const GETH_ERRORS: Wording = ({ reason, data, cause }) => {
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message: reason }
  return { code: REVERTED, message: reverted(gethReason(cause)), data }
}

export const ANVIL_ERRORS: Wording = ({ reason, data, cause }) => {
  if (cause.kind === 'halt') {
    const name = ANVIL_HALTS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason
    return { code: INTERNAL_ERROR, message: `EVM error ${name}` }
  }
  return { code: REVERTED, message: reverted(anvilReason(cause, data)), data }
}

/** A transaction that failed is told with its hash, in the form of version 2; calls have the form of version 3. */
export const HARDHAT_ERRORS: Wording = ({ reason, data, hash, cause }) => {
  const message = hardhatMessage(cause, reason, data)
  const facts = { message, txHash: hash ?? null, data }
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message, data: facts }
  if (hash !== undefined) return { code: INTERNAL_ERROR, message: `Error: ${message}`, data: facts }
  return { code: REVERTED, message, data }
}

export const GANACHE_ERRORS: Wording = ({ reason, data, hash, cause }) => {
  const said = cause.kind === 'text' ? cause.text : undefined
  const told = said === undefined ? 'revert' : `revert ${said}`
  const message = EXECUTION_ERROR + (cause.kind === 'halt' ? reason : told)
  if (hash === undefined) return { code: SERVER_ERROR, message, data }
  const facts = { hash, result: data, reason: said ?? null, message: told }
  return { code: SERVER_ERROR, message, data: facts }
}

function reverted(reason: string | undefined): string {
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}

function gethReason(cause: Cause): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}

function anvilReason(cause: Cause, data: string): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind === 'custom') return customReason(data)
  if (cause.kind !== 'panic') return undefined
  const digits = `0x${cause.code.toString(16).padStart(2, '0')}`
  return `panic: ${ANVIL_PANICS.get(cause.code) ?? 'unknown code'} (${digits})`
}

/** The selector, and the arguments if there are any. */
function customReason(data: string): string {
  const [selector, rest] = [data.slice(0, 10), data.slice(10)]
  return rest === '' ? `custom error ${selector}` : `custom error ${selector}: ${rest}`
}

function hardhatMessage(cause: Cause, reason: string, data: string): string {
  switch (cause.kind) {
    case 'text':
      return `${EXECUTION_ERROR}reverted with reason string '${cause.text}'`
    case 'panic': {
      const name = HARDHAT_PANICS.get(cause.code) ?? 'Unknown panic code'
      return `${EXECUTION_ERROR}reverted with panic code 0x${cause.code.toString(16)} (${name})`
    }
    case 'custom':
      return `${EXECUTION_ERROR}reverted with an unrecognized custom error (return data: ${data})`
    case 'revert':
      return 'Transaction reverted without a reason string'
    case 'halt':
      return reason.startsWith('out of gas')
        ? 'Transaction ran out of gas'
        : EXECUTION_ERROR + reason
  }
}
