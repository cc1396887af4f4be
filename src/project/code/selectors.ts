// Finds a code's function selectors: constants it compares with the first four bytes of input.
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { nextOperation, OP } from '../../evm/opcodes.ts'

export const selectorsIn: (code: Uint8Array) => ReadonlySet<string> = memoizeByIdentity((code) => {
  const found = new Set<string>()
  for (let at = 0, end = 0; at < code.length; at = end) {
    end = nextOperation(code, at)
    // a selector with a leading zero byte needs only PUSH3
    const isSelector = code[at] === OP.PUSH4 || code[at] === OP.PUSH3
    if (!isSelector || !isComparison(code[end])) continue
    const digits = Buffer.from(code.subarray(at + 1, end)).toString('hex')
    found.add(`0x${digits.padStart(8, '0')}`)
  }
  return found
})

/** Opcodes that compilers emit after a selector. */
function isComparison(opcode: number | undefined): boolean {
  return opcode === OP.EQ || opcode === OP.SUB || opcode === OP.XOR
}
