// Turns a recording into the operations that a trace compiles.
import { nextOperation, OP, type Operation } from '../../../opcodes.ts'
import type { TraceStep } from './trace.ts'

/** Limits modules to about 60 KB. */
const MOST_STEPS = 600

/** The target of each jump, or the place behind a JUMPI not taken. */
export interface RecordedPath {
  readonly start: number
  readonly path: readonly number[]
  /** The last jump led to the start with the same stack height. */
  readonly isLoop: boolean
  /** The last jump led to the start of another trace. */
  readonly isMet: boolean
}

export interface Plan {
  readonly steps: readonly TraceStep[]
  readonly end: number
  readonly isLoop: boolean
}

/**
 * Between jumps there is only one way, so the targets suffice. Ends before an operation that is not compiled, and before a jump
 * with unknown target.
 * @param operations those that can be compiled
 */
export function planTrace(
  code: Uint8Array,
  operations: ReadonlyMap<number, Operation>,
  { start, path, isLoop, isMet }: RecordedPath,
): Plan {
  const steps: TraceStep[] = []
  let pc = start
  let jumps = 0
  while (steps.length < MOST_STEPS) {
    if (jumps === path.length && (isLoop || isMet)) return { steps, end: pc, isLoop }
    const opcode = code[pc]
    const operation = opcode === undefined ? undefined : operations.get(opcode)
    if (opcode === undefined || operation === undefined) break
    const isJump = opcode === OP.JUMP || opcode === OP.JUMPI
    const next = isJump ? path[jumps++] : nextOperation(code, pc)
    if (next === undefined) break
    steps.push({ pc, opcode, gas: operation.gas, next })
    pc = next
  }
  return { steps, end: pc, isLoop: false }
}
