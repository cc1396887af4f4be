// Turns a recording into the row of operations that a trace compiles.
import { nextOperation, OP, type Operation } from '../../../opcodes.ts'
import type { Step } from './trace.ts'

/** Operations of a trace, at most: the longest modules are then some 60 KB. */
const MOST_STEPS = 600

/** Where code went from a place on: the target of each jump, or what is behind a JUMPI that stayed. */
export interface Recording {
  readonly start: number
  readonly path: readonly number[]
  /** The last jump led to the start, with as many words on the stack. */
  readonly isLoop: boolean
  /** The last jump led to where another trace begins. */
  readonly isMet: boolean
}

export interface Plan {
  readonly steps: readonly Step[]
  readonly end: number
  readonly isLoop: boolean
}

/**
 * Between jumps there is one way only, so that the targets tell everything. The row ends before an operation that is not
 * compiled, and before a jump of which it is not known where it goes.
 * @param operations those that are compiled
 */
export function planTrace(
  code: Uint8Array,
  operations: ReadonlyMap<number, Operation>,
  { start, path, isLoop, isMet }: Recording,
): Plan {
  const steps: Step[] = []
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
