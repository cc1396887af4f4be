// Tracks constants that code has just pushed: jump targets, two of which constructors pack in one word.
import { isPush, OP } from '../../evm/opcodes.ts'

const KEPT = 4

/** Bytes of the longest constant: two targets in one word. */
const LONGEST = 8

/** The constants on top of the stack in straight-line code. */
export class PushedConstants {
  #values: bigint[] = []

  /** Undefined if it is no constant. */
  get top(): number | undefined {
    const value = this.#values.at(-1)
    return value === undefined ? undefined : Number(value)
  }

  /** Notes an operation, after its operands were read. */
  pass(code: Uint8Array, pc: number): void {
    const opcode = code[pc]!
    const size = isPush(opcode) ? opcode - OP.PUSH0 : 0
    if (opcode === OP.PUSH0 || (size > 0 && size <= LONGEST)) {
      this.#values.push(BigInt(numberAt(code, pc + 1, size)))
      if (this.#values.length > KEPT) this.#values.shift()
      return
    }
    const [second, first] = this.#values.slice(-2)
    const result =
      first === undefined || second === undefined ? undefined : combined(opcode, first, second)
    this.#values = result === undefined ? [] : [...this.#values.slice(0, -2), result]
  }
}

/** @param first the top of the stack */
function combined(opcode: number, first: bigint, second: bigint): bigint | undefined {
  if (opcode === OP.OR) return first | second
  if (opcode === OP.AND) return first & second
  if (first > 8n * BigInt(LONGEST)) return undefined
  if (opcode === OP.SHL) return BigInt.asUintN(8 * LONGEST, second << first)
  return opcode === OP.SHR ? second >> first : undefined
}

function numberAt(code: Uint8Array, start: number, size: number): bigint {
  let value = 0n
  for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(code[start + i] ?? 0)
  return value
}
