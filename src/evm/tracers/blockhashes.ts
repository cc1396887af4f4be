// Records the oldest block hash that runs read.
import type { Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'

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
