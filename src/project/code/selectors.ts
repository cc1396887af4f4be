// The functions that a code looks for: what it compares the first four bytes of its input with.
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { nextOperation, OP } from '../../evm/opcodes.ts'

/** The selectors that a code compares with. */
export const selectorsIn: (code: Uint8Array) => ReadonlySet<string> = memoizeByIdentity((code) => {
  const found = new Set<string>()
  for (let at = 0, end = 0; at < code.length; at = end) {
    end = nextOperation(code, at)
    // one that begins with a zero takes a byte less
    const isSelector = code[at] === OP.PUSH4 || code[at] === OP.PUSH3
    if (!isSelector || !isComparison(code[end])) continue
    const digits = Buffer.from(code.subarray(at + 1, end)).toString('hex')
    found.add(`0x${digits.padStart(8, '0')}`)
  }
  return found
})

/** What compilers put after a selector that they look for. */
function isComparison(opcode: number | undefined): boolean {
  return opcode === OP.EQ || opcode === OP.SUB || opcode === OP.XOR
}
