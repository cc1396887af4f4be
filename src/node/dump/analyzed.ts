// Code as anvil's engine keeps it: padded, with a bit for each jump destination.
import { hexFromBytes } from '../../core/hex.ts'
import { nextOperation, OP } from '../../evm/opcodes.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'

export function analyzedCode(code: Uint8Array): string {
  const delegate = delegateOf(code)
  if (delegate !== undefined) return `{"Eip7702":{"delegated_address":"${delegate}"}}`
  const { bits, padding } = analysisOf(code)
  const bytecode = `${hexFromBytes(code)}${'00'.repeat(padding)}`
  const table = `{"order":"bitvec::order::Lsb0","head":{"width":8,"index":0},"bits":${code.length},"data":[${bits.join()}]}`
  return `{"LegacyAnalyzed":{"bytecode":"${bytecode}","original_len":${code.length},"jump_table":${table}}}`
}

interface Analysis {
  /** The lowest bit of the first byte is the first byte of the code. */
  readonly bits: Uint8Array
  /** Bytes so that no operation lacks its operand, and the last one is a STOP. */
  readonly padding: number
}

function analysisOf(code: Uint8Array): Analysis {
  const bits = new Uint8Array(Math.ceil(code.length / 8))
  let last = -1
  let at = 0
  while (at < code.length) {
    last = code[at]!
    if (last === OP.JUMPDEST) bits[at >> 3]! |= 1 << (at & 7)
    at = nextOperation(code, at)
  }
  return { bits, padding: at - code.length + (last === OP.STOP ? 0 : 1) }
}
