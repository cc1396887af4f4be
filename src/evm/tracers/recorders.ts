// Small recorders: touched accounts and slots, called selectors, read block hashes, and gas by opcode.

import { type Address, hexFromBytes } from '../../core/hex.ts'
import type { Step, Touched, Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'

export interface TouchRecorder {
  readonly tracer: Tracer
  readonly touched: Touched
}

/** @param known accounts that each run touches: sender, recipient, miner, authorities */
export function recordTouched(known: Iterable<Address>): TouchRecorder {
  const touched = new Map<Address, readonly bigint[]>()
  for (const address of known) touched.set(address, [])
  const tracer: Tracer = {
    onTouched: (found) => {
      for (const [address, slots] of found) touched.set(address, slots)
    },
  }
  return { tracer, touched }
}

interface SelectorRecorder {
  readonly tracer: Tracer
  /** By key, e.g. `0xa9059cbb-64`: selector and the number of bytes after it. */
  readonly counts: ReadonlyMap<string, number>
}

/** Ignores creations and precompile calls. */
export function recordSelectors(): SelectorRecorder {
  const counts = new Map<string, number>()
  const tracer: Tracer = {
    onEnter: ({ to, input, isPrecompile }) => {
      if (to === null || isPrecompile || input.length < 4) return
      const key = `${hexFromBytes(input.subarray(0, 4))}-${input.length - 4}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
  return { tracer, counts }
}

/** Blocks that BLOCKHASH can read (Yellow Paper, appendix H). */
const REACH = 256n

interface BlockHashRecorder {
  readonly tracer: Tracer
  /** The oldest block whose hash was read successfully, if any. */
  readonly oldest: () => bigint | undefined
}

/** `number` is the block of the runs; the tracer may be reused for several. */
export function recordBlockHashes(number: bigint): BlockHashRecorder {
  let oldest: bigint | undefined
  const tracer: Tracer = {
    onStep: ({ opcode, stack }) => {
      // includes operations that fail
      if (opcode !== OP.BLOCKHASH) return
      const asked = stack.at(-1)
      if (asked === undefined || asked >= number || asked + REACH < number) return
      if (oldest === undefined || asked < oldest) oldest = asked
    },
    stepParts: { stack: true, memory: false, only: new Set([OP.BLOCKHASH]) },
  }
  return { tracer, oldest: () => oldest }
}

interface OpcodeGas {
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
  const count = ({ opName, gas, gasCost, state }: Step): void => {
    const entry = byOpcode.get(opName) ?? { count: 0, gasUsed: 0n }
    byOpcode.set(opName, entry)
    entry.count += 1
    // an operation cannot use more gas than is left
    entry.gasUsed += (gasCost < gas ? gasCost : gas) + (state?.cost ?? 0n)
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
