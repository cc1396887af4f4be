// The operation tables of hardforks for the instance.
import type { Hardfork } from '../../protocol/forks.ts'
import { operationsAt, STACK_LIMIT } from '../opcodes.ts'
import { INVALID } from './layout.ts'

export const TABLE_SIZE: number = 256 * 8

export function operationTable(hardfork: Hardfork): Uint8Array {
  const bytes = new Uint8Array(TABLE_SIZE)
  const table = new DataView(bytes.buffer)
  const operations = operationsAt(hardfork)
  for (let opcode = 0; opcode < 256; opcode++) {
    const operation = operations.get(opcode)
    if (operation === undefined) {
      table.setUint16(8 * opcode + 2, INVALID, true)
      continue
    }
    const { gas, takes, leaves } = operation
    table.setUint16(8 * opcode, gas, true)
    table.setUint16(8 * opcode + 2, takes, true)
    table.setUint32(8 * opcode + 4, STACK_LIMIT - Math.max(leaves - takes, 0) - takes, true)
  }
  return bytes
}

/** Marks operations as invalid in the table at `at`, so that they take the slow path and are traced. */
export function refuse(bytes: Uint8Array, at: number, opcodes: ReadonlySet<number>): void {
  const table = new DataView(bytes.buffer, at)
  for (const opcode of opcodes) table.setUint16(8 * opcode + 2, INVALID, true)
}
