// geth: `geth --dev`, whose answers most libraries are written for.
import type { ErrorObject } from '../../rpc/errors.ts'
import { REVERTED, SERVER_ERROR } from './codes.ts'
import { type Cause, type FailedExecution, reverted } from './failure.ts'
import { OWN, type Profile } from './profile.ts'

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

export const GETH: Profile = {
  ...OWN,
  defaults: { chainId: 1337n, baseFee: GWEI, tip: 1n, defaultGas: 'estimate', difficulty: 0n },
  clientName: 'Geth',
  failure,
}

function failure({ reason, data, cause }: FailedExecution): ErrorObject {
  if (cause.kind === 'halt') return { code: SERVER_ERROR, message: reason }
  return { code: REVERTED, message: reverted(gethReason(cause)), data }
}

function gethReason(cause: Cause): string | undefined {
  if (cause.kind === 'text') return cause.text
  if (cause.kind !== 'panic') return undefined
  return GETH_PANICS.get(cause.code) ?? `unknown panic code: 0x${cause.code.toString(16)}`
}
