// How far back a run looks for hashes of blocks.
import type { Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'

/** Blocks whose hashes contracts can ask for (Yellow Paper, appendix H). */
const REACH = 256n

interface BlockHashRecorder {
  readonly tracer: Tracer
  /** Number of the oldest block whose hash was asked for and could be told, if any was. */
  readonly oldest: () => bigint | undefined
}

/** A tracer of runs in the block of a number; it may be used for one after the other. */
export function recordBlockHashes(number: bigint): BlockHashRecorder {
  let oldest: bigint | undefined
  const tracer: Tracer = {
    onStep: ({ opcode, stack }) => {
      // those that cannot run are told too
      if (opcode !== OP.BLOCKHASH) return
      const asked = stack.at(-1)
      if (asked === undefined || asked >= number || asked + REACH < number) return
      if (oldest === undefined || asked < oldest) oldest = asked
    },
    stepParts: { stack: true, memory: false, only: new Set([OP.BLOCKHASH]) },
  }
  return { tracer, oldest: () => oldest }
}
