// The type of an operation's compiler, and calls of the instance.
import { FLAG_STATIC, FRAME_FLAGS, OPERANDS } from '../../layout.ts'
import type { Exit, TraceBuilder, TraceStep } from '../trace/trace.ts'
import type { Limbs } from '../wasm/emitter.ts'
import { type Helper, indexOf, SIGNATURES } from '../wasm/helpers.ts'
import { I32_AND, I64_LT_S } from '../wasm/instructions.ts'
import * as locals from '../wasm/locals.ts'

export type Compile = (trace: TraceBuilder, step: TraceStep) => void

export type Row = readonly [opcode: number, compile: Compile]

export function operand(n: number): number {
  return OPERANDS + 32 * n
}

interface Call {
  /** Taken if gas runs short. */
  readonly exit?: Exit | undefined
  readonly words?: readonly Limbs[]
  readonly numbers?: readonly ((trace: TraceBuilder) => void)[]
}

export function callHelper(trace: TraceBuilder, helper: Helper, call: Call = {}): void {
  const { emitter, stack } = trace
  const signature = SIGNATURES[helper]
  const count = signature.match(/w/gi)?.length ?? 0
  const words = call.words ?? Array.from({ length: count }, () => stack.pop())
  words.forEach((limbs, n) => {
    emitter.putWord(limbs, operand(n))
  })
  const numbers = [...(call.numbers ?? [])]
  let operands = 0
  for (const kind of signature) {
    if (kind === 'f') emitter.get(locals.FRAME)
    else if (kind === 'g') emitter.get(locals.GAS)
    else if (kind === 'i' || kind === 'l') numbers.shift()?.(trace)
    else emitter.i32(operand(operands++))
  }
  emitter.call(indexOf(helper))
  if (call.exit !== undefined) trace.payOrLeave(call.exit)
}

/** The word that the helper wrote; undefined if it has no result. */
function resultOf({ emitter }: TraceBuilder, helper: Helper): Limbs | undefined {
  const place = SIGNATURES[helper].replace(/[^wWr]/g, '').search(/[Wr]/)
  return place === -1 ? undefined : emitter.takeWord(operand(place))
}

/** For helpers that cost no further gas. */
export function callOnWords(trace: TraceBuilder, helper: Helper, words: readonly Limbs[]): Limbs {
  callHelper(trace, helper, { words })
  const result = resultOf(trace, helper)
  if (result === undefined) throw new Error(`${helper} returns nothing`)
  return result
}

interface CalledTraits extends Pick<Call, 'numbers'> {
  readonly changes?: boolean
  /** May be slow or expand memory. */
  readonly isLong?: boolean
}

export function called(helper: Helper, { changes, isLong, ...call }: CalledTraits = {}): Compile {
  const isPaid = SIGNATURES[helper].includes('g')
  return (trace, { pc }) => {
    const exit = isPaid || changes ? trace.exit(pc) : undefined
    if (changes && exit !== undefined) needChangeable(trace, exit)
    if (isLong && exit !== undefined) needGasUntilYield(trace, exit)
    callHelper(trace, helper, { ...call, exit: isPaid ? exit : undefined })
    if (isLong) trace.emitter.readLimit()
    const result = resultOf(trace, helper)
    if (result !== undefined) trace.stack.push(result)
  }
}

/** Exits if prepaid gas exceeds the gas until the yield: long operations in a row would block other work. */
export function needGasUntilYield(trace: TraceBuilder, exit: Exit): void {
  trace.emitter.get(locals.GAS)
  trace.emitter.get(locals.YIELD)
  trace.emitter.op(I64_LT_S)
  trace.leaveIf(exit)
}

export function needChangeable(trace: TraceBuilder, exit: Exit): void {
  trace.emitter.frame32(FRAME_FLAGS)
  trace.emitter.i32(FLAG_STATIC)
  trace.emitter.op(I32_AND)
  trace.leaveIf(exit)
}
