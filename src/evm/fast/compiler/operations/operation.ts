// The type of an operation's compiler, and what several of them share.
import { OPERANDS } from '../../layout.ts'
import type { Step, Trace } from '../trace/trace.ts'
import type { Limbs } from '../wasm/emitter.ts'
import type { Helper } from '../wasm/helpers.ts'

/** Compiles one operation: takes its operands from the symbolic stack and puts the result there. */
export type Compile = (trace: Trace, step: Step) => void

/** Operations by opcode. */
export type Row = readonly [opcode: number, compile: Compile]

/** Place of the n-th operand that is handed to a helper. */
export function operand(n: number): number {
  return OPERANDS + 32 * n
}

/** Has a helper work on words, the last of which holds the result. */
export function callOnWords(trace: Trace, helper: Helper, words: readonly Limbs[]): Limbs {
  words.forEach((limbs, n) => {
    trace.emitter.putWord(limbs, operand(n))
  })
  words.forEach((_, n) => {
    trace.emitter.i32(operand(n))
  })
  trace.call(helper)
  return trace.emitter.takeWord(operand(words.length - 1))
}
