// Counts runs and gas of each operation.
import type { Step, Tracer } from '../executor.ts'

export interface OpcodeGas {
  count: number
  gasUsed: bigint
}

type GasByOpcode = ReadonlyMap<string, OpcodeGas>

/**
 * Gas passed to a frame counts for the operations in it; gas of a precompile counts for the call. The sum is the gas used,
 * without intrinsic gas, refunds, and what failing frames lose.
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
    // an operation cannot use more gas than is left
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
      // includes the stipend, of which the unused part comes back
      if (opener !== undefined) opener.gasUsed -= frame.gas
    },
    onExit: ({ gasUsed }) => {
      const opener = openers.pop()
      if (isPrecompile.pop() === true && opener !== undefined) opener.gasUsed += gasUsed
    },
  }
  return { tracer, byOpcode }
}
