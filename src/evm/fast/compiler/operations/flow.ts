// Compiles PUSH, POP, DUP, SWAP and jumps. A trace follows its recording: known jumps need no code, others compare the target.
import { bigintFromBytes } from '../../../../core/hex.ts'
import { farWords, OP } from '../../../opcodes.ts'
import { paddedSlice } from '../../../precompiles/precompile.ts'
import type { Word } from '../trace/stack.ts'
import type { TraceBuilder, TraceStep } from '../trace/trace.ts'
import type { Limb } from '../wasm/emitter.ts'
import { isKnown, knownWord, orAll, xor } from '../wasm/limbs.ts'
import type { Compile, Row } from './operation.ts'

const compilePush: Compile = ({ code, stack }, { pc, opcode }) => {
  stack.pushValue(bigintFromBytes(paddedSlice(code.bytes, pc + 1, opcode - OP.PUSH0)))
}

/** 0 if the word equals `pc`. */
function differenceTo(trace: TraceBuilder, word: Word, pc: number): Limb {
  trace.hasUnknownJump = true
  const [low, ...upper] = trace.stack.limbs(word)
  return orAll(trace.emitter, [xor(trace.emitter, low, BigInt(pc)), ...upper])
}

const compileJump: Compile = (trace, step) => {
  const target = knownWord(trace.stack.peek().limbs)
  if (target === undefined) {
    const exit = trace.exit(step.pc)
    trace.needZero(differenceTo(trace, trace.stack.popWord(), step.next), exit)
  } else if (target === BigInt(step.next)) {
    trace.stack.drop()
  } else {
    trace.end(trace.exit(step.pc))
  }
}

/** The recording decides which way continues the trace. */
const compileBranch: Compile = (trace, step) => {
  const target = knownWord(trace.stack.peek().limbs)
  if (step.next === step.pc + 1) compileStay(trace, step, target)
  else compileTaken(trace, step, target)
}

function compileTaken(trace: TraceBuilder, step: TraceStep, target: bigint | undefined): void {
  const { stack } = trace
  if (target !== undefined && target !== BigInt(step.next)) {
    trace.end(trace.exit(step.pc))
    return
  }
  const before = target === undefined ? trace.exit(step.pc) : undefined
  const place = stack.popWord()
  const condition = orAll(trace.emitter, stack.pop())
  const behind = trace.exit(step.pc + 1, trace.used + step.gas, true)
  if (condition === 0n) {
    trace.end(behind)
    return
  }
  trace.needNonZero(condition, behind)
  if (before !== undefined) trace.needZero(differenceTo(trace, place, step.next), before)
}

function compileStay(trace: TraceBuilder, step: TraceStep, target: bigint | undefined): void {
  const { stack, code } = trace
  const before = trace.exit(step.pc)
  stack.drop()
  const condition = orAll(trace.emitter, stack.pop())
  const isJump =
    target !== undefined && target < code.bytes.length && code.isDestination(Number(target))
  const exit = isJump ? trace.exit(Number(target), trace.used + step.gas, true) : before
  if (isKnown(condition) && condition !== 0n) trace.end(exit)
  else trace.needZero(condition, exit)
}

/** DUPN, SWAPN and EXCHANGE. */
const compileFar: Compile = (trace, { pc, opcode }) => {
  const { stack, code } = trace
  const words = farWords(opcode, code.bytes[pc + 1] ?? 0)
  if (words === undefined) return trace.end(trace.exit(pc))
  const [nearer, other] = words
  if (opcode === OP.DUPN) stack.duplicate(other)
  else stack.swap(other, nearer)
}

export const FLOW_OPERATIONS: readonly Row[] = [
  [OP.POP, ({ stack }) => stack.drop()],
  [OP.JUMP, compileJump],
  [OP.JUMPI, compileBranch],
  [OP.PC, ({ stack }, { pc }) => stack.pushValue(BigInt(pc))],
  [OP.JUMPDEST, () => undefined],
  ...Array.from({ length: 33 }, (_, i): Row => [OP.PUSH0 + i, compilePush]),
  ...Array.from(
    { length: 16 },
    (_, i): Row => [OP.DUP1 + i, ({ stack }) => stack.duplicate(i + 1)],
  ),
  ...Array.from({ length: 16 }, (_, i): Row => [OP.SWAP1 + i, ({ stack }) => stack.swap(i + 1)]),
  [OP.DUPN, compileFar],
  [OP.SWAPN, compileFar],
  [OP.EXCHANGE, compileFar],
]
