// anvil 1.7: Foundry's node.
import type { ErrorObject } from '../../rpc/errors.ts'
import { INTERNAL_ERROR, REVERTED } from './codes.ts'
import { type Cause, type FailedExecution, reverted } from './failure.ts'
import { OWN, type Profile } from './profile.ts'

const GWEI = 10n ** 9n

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

export const ANVIL: Profile = {
  ...OWN,
  defaults: { chainId: 31_337n, baseFee: GWEI, tip: GWEI, defaultGas: 'estimate', difficulty: 0n },
  chain: {
    estimatesAskForFunds: false,
    needsSender: false,
    baseFeesInCap: 1n,
    refusesFailingEstimates: false,
  },
  clientName: 'anvil',
  secondsAhead: Number,
  failure,
}

function failure({ reason, data, cause }: FailedExecution): ErrorObject {
  if (cause.kind === 'halt') {
    const name = ANVIL_HALTS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason
    return { code: INTERNAL_ERROR, message: `EVM error ${name}` }
  }
  return { code: REVERTED, message: reverted(anvilReason(cause, data)), data }
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
