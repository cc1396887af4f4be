// How anvil writes code, exits, addresses of creations, and members in general.
import { createdAddress } from '../../core/crypto/crypto.ts'
import { type Address, hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Failure } from '../../evm/executor.ts'
import { nextOperation, OP } from '../../evm/opcodes.ts'
import { describeRevert } from '../../evm/reasons.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'

export type DumpedJson = Readonly<Record<string, unknown>>

/** As JSON: integers become quantities, bytes hex; undefined members are left out. No text of a dump needs escapes. */
export function printJson(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  if (typeof value === 'bigint') return `"${quantityFromBigint(value)}"`
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof Uint8Array) return `"${hexFromBytes(value)}"`
  if (Array.isArray(value)) return `[${value.map(printJson).join()}]`
  let members = ''
  for (const name in value) {
    const member = (value as DumpedJson)[name]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}"${name}":${printJson(member)}`
  }
  return `{${members}}`
}

/** Even of a failed creation. */
export function createdBy({ from, to, nonce }: Transaction): Address | null {
  return to === null ? createdAddress(encodeRlp([from, nonce])) : null
}

/** Halts by anvil's name. Of those with the same words the first is written. */
const HALTS: ReadonlyMap<string, string> = new Map([
  ['OutOfGas', 'out of gas'],
  ['PrecompileOOG', 'out of gas'],
  ['PrecompileError', 'precompile failed'],
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

/** Code as anvil's engine keeps it: padded, with a bit for each jump destination. */
export function analyzedCode(code: Uint8Array): string {
  const delegate = delegateOf(code)
  if (delegate !== undefined) return `{"Eip7702":{"delegated_address":"${delegate}"}}`
  /** The lowest bit of the first byte is the first byte of the code. */
  const bits = new Uint8Array(Math.ceil(code.length / 8))
  let last = -1
  let at = 0
  while (at < code.length) {
    last = code[at]!
    if (last === OP.JUMPDEST) bits[at >> 3]! |= 1 << (at & 7)
    at = nextOperation(code, at)
  }
  // so that no operation lacks its operand, and the last one is a STOP
  const padding = at - code.length + (last === OP.STOP ? 0 : 1)
  const bytecode = `${hexFromBytes(code)}${'00'.repeat(padding)}`
  const table = `{"order":"bitvec::order::Lsb0","head":{"width":8,"index":0},"bits":${code.length},"data":[${bits.join()}]}`
  return `{"LegacyAnalyzed":{"bytecode":"${bytecode}","original_len":${code.length},"jump_table":${table}}}`
}
