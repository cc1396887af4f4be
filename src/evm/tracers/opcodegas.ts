// How often each operation ran, and the gas that went into it.
import type { Step, Tracer } from '../executor.ts'

export interface OpcodeGas {
  count: number
  gasUsed: bigint
}

/** By name, in the order in which they first ran. */
type GasByOpcode = ReadonlyMap<string, OpcodeGas>

/**
 * A tracer that counts. The gas that a call hands to its frame counts for the operations in the frame; the gas that a
 * precompile uses counts for the call. The sum is the gas that the run used, but for intrinsic gas, refunds, and what failing
 * frames lose.
 */
export function recordOpcodeGas(): { readonly tracer: Tracer; readonly byOpcode: GasByOpcode } {
  const byOpcode = new Map<string, OpcodeGas>()
  /** The operation that opened each frame, outermost first; undefined for the run itself. */
  const openers: (OpcodeGas | undefined)[] = []
  const isPrecompile: boolean[] = []
  let latest: OpcodeGas | undefined
  const count = ({ opName, gas, gasCost }: Step): void => {
    const entry = byOpcode.get(opName) ?? { count: 0, gasUsed: 0n }
    byOpcode.set(opName, entry)
    entry.count += 1
    // an operation cannot use more than there is
    entry.gasUsed += gasCost < gas ? gasCost : gas
    latest = entry
  }
  const tracer: Tracer = {
    onStep: count,
    stepParts: { stack: false, memory: false },
    onEnter: (frame) => {
      const opener = openers.length === 0 ? undefined : latest
      openers.push(opener)
      isPrecompile.push(frame.isPrecompile)
      // with the stipend of a call with ether, which comes back as far as the frame leaves it
      if (opener !== undefined) opener.gasUsed -= frame.gas
    },
    onExit: ({ gasUsed }) => {
      const opener = openers.pop()
      if (isPrecompile.pop() === true && opener !== undefined) opener.gasUsed += gasUsed
    },
  }
  return { tracer, byOpcode }
}
