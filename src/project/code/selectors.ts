// The functions that a code looks for: what it compares the first four bytes of its input with.
const PUSH1 = 0x60
const PUSH3 = 0x62
const PUSH4 = 0x63
const PUSH32 = 0x7f

const known = new WeakMap<Uint8Array, ReadonlySet<string>>()

/** The selectors that a code compares with. */
export function selectorsIn(code: Uint8Array): ReadonlySet<string> {
  const found = known.get(code) ?? searched(code)
  known.set(code, found)
  return found
}

function searched(code: Uint8Array): ReadonlySet<string> {
  const found = new Set<string>()
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at]!
    if (opcode < PUSH1 || opcode > PUSH32) continue
    const end = at + 1 + opcode - PUSH1 + 1
    // one that begins with a zero takes a byte less
    const isSelector = opcode === PUSH4 || opcode === PUSH3
    if (isSelector && isComparison(code[end])) {
      const digits = Buffer.from(code.subarray(at + 1, end)).toString('hex')
      found.add(`0x${digits.padStart(8, '0')}`)
    }
    at = end - 1
  }
  return found
}

const EQ = 0x14
const SUB = 0x03
const XOR = 0x18

/** What compilers put after a selector that they look for. */
function isComparison(opcode: number | undefined): boolean {
  return opcode === EQ || opcode === SUB || opcode === XOR
}
