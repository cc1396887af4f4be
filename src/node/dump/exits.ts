// Translates between the exit names of anvil's engine and this project's words.
import type { Failure } from '../../evm/executor.ts'
import { describeRevert } from '../../evm/reasons.ts'

/** Halts by anvil's name. Of those with the same words the first is written. */
const HALTS: ReadonlyMap<string, string> = new Map([
  ['OutOfGas', 'out of gas'],
  ['InvalidFEOpcode', 'invalid opcode 0xfe'],
  ['OpcodeNotFound', 'invalid opcode'],
  ['InvalidJump', 'invalid jump destination'],
  ['StackUnderflow', 'stack underflow'],
  ['StackOverflow', 'stack overflow'],
  ['OutOfOffset', 'return data out of bounds'],
  ['OutOfFunds', 'insufficient balance for transfer'],
  ['CreateCollision', 'contract address collision'],
  ['CreateContractSizeLimit', 'max code size exceeded'],
  ['CreateInitCodeSizeLimit', 'max initcode size exceeded'],
  ['CreateContractStartingWithEF', 'invalid code: must not begin with 0xef'],
  ['StateChangeDuringStaticCall', 'write protection: a static call may not change state'],
  ['CallNotAllowedInsideStatic', 'write protection: a static call may not change state'],
])

/** Unknown halts become out of gas, because all of them take all gas. */
export function exitOf(
  failure: Failure | undefined,
  output: Uint8Array,
  isCreation: boolean,
): string {
  if (failure === undefined) return output.length === 0 && !isCreation ? 'Stop' : 'Return'
  if (failure.kind === 'revert') return 'Revert'
  for (const [name, words] of HALTS) if (words === failure.reason) return name
  return failure.reason.startsWith('invalid opcode') ? 'OpcodeNotFound' : 'OutOfGas'
}

export function failureOf(exit: unknown, output: Uint8Array): Failure {
  if (exit === 'Revert' || typeof exit !== 'string') {
    return { kind: 'revert', reason: describeRevert(output) }
  }
  const words = exit.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return { kind: 'halt', reason: HALTS.get(exit) ?? words }
}
