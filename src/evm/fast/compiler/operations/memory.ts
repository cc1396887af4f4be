// Compiles memory access, hashes, copies and logs.
import { paddedBytes } from '../../../../core/hex.ts'
import { OP } from '../../../opcodes.ts'
import * as layout from '../../layout.ts'
import type { Word } from '../trace/stack.ts'
import type { Exit, TraceBuilder, TraceStep } from '../trace/trace.ts'
import type { Emitter, Limb } from '../wasm/emitter.ts'
import * as wasm from '../wasm/instructions.ts'
import { isKnown, orAll } from '../wasm/limbs.ts'
import * as locals from '../wasm/locals.ts'
import {
  type Compile,
  called,
  callHelper,
  needChangeable,
  needGasUntilYield,
  operand,
  type Row,
} from './operation.ts'

/** Larger known offsets exceed the immediates of instructions; the interpreter runs them. */
const FAR = 0x4000_0000n

/** Reverses a vector: memory is big-endian, limbs are little-endian. */
const BACKWARDS = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

function access(
  length: number,
  use: (trace: TraceBuilder, offset: Word, at: number) => void,
): Compile {
  return (trace, step) => {
    const exit = trace.exit(step.pc)
    const offset = trace.stack.popWord()
    if (isFar(offset)) return trace.end(exit)
    trace.needZero(orAll(trace.emitter, trace.upper(offset)), exit)
    reach(trace, offset, length, exit)
    use(trace, offset, place(trace, offset))
  }
}

function isFar({ limbs }: Word): boolean {
  const [low] = limbs
  if (typeof low === 'bigint' && low >= FAR) return true
  return limbs.slice(1).some((limb) => typeof limb === 'bigint' && limb !== 0n)
}

function reach(trace: TraceBuilder, word: Word, length: number, exit: Exit): void {
  const { emitter } = trace
  const offset = trace.stack.limb(word, 0)
  if (isKnown(offset)) {
    const end = Number(offset) + length
    if (end <= trace.knownMemory) return
    trace.knownMemory = end
  }
  emitter.limb(offset)
  emitter.get(locals.LIMIT)
  emitter.op(wasm.I64_LT_U)
  emitter.op(wasm.I32_EQZ)
  emitter.if()
  // for a byte it is also called in the last 31 bytes, and does nothing there
  expand(trace, offset, length, exit)
  emitter.end()
}

function expand(trace: TraceBuilder, offset: Limb, length: number, exit: Exit): void {
  const { emitter } = trace
  const numbers = [() => emitter.limb(offset), () => emitter.i64(BigInt(length))]
  callHelper(trace, 'expandMemory', { exit, numbers })
  trace.emitter.readLimit()
}

/** Sets locals.ADDRESS; returns the constant to add. */
function place(trace: TraceBuilder, word: Word): number {
  const { emitter } = trace
  const offset = trace.stack.limb(word, 0)
  emitter.get(locals.MEMORY)
  if (!isKnown(offset)) {
    emitter.limb(offset)
    emitter.op(wasm.I32_WRAP_I64)
    emitter.op(wasm.I32_ADD)
  }
  emitter.set(locals.ADDRESS)
  return isKnown(offset) ? Number(offset) : 0
}

const compileLoad: Compile = access(32, (trace, _, at) => {
  const { emitter, stack } = trace
  const [a, b] = loadTurned(emitter, at + 16)
  const [c, d] = loadTurned(emitter, at)
  stack.push([a, b, c, d])
})

function loadTurned(emitter: Emitter, at: number): readonly [Limb, Limb] {
  emitter.get(locals.ADDRESS)
  emitter.vectorAccess(wasm.V128_LOAD, at)
  emitter.set(locals.VECTOR)
  turn(emitter)
  emitter.set(locals.VECTOR)
  return [lane(emitter, 0), lane(emitter, 1)]
}

function turn(emitter: Emitter): void {
  emitter.get(locals.VECTOR)
  emitter.get(locals.VECTOR)
  emitter.vector(wasm.I8X16_SHUFFLE)
  emitter.out.bytes(BACKWARDS)
}

function lane(emitter: Emitter, index: number): Limb {
  emitter.get(locals.VECTOR)
  emitter.vector(wasm.I64X2_EXTRACT_LANE)
  emitter.op(index)
  return emitter.keep()
}

const compileStore: Compile = access(32, (trace, _, at) => {
  const { emitter, stack } = trace
  const [a, b, c, d] = stack.pop()
  storeTurned(emitter, a, b, at + 16)
  storeTurned(emitter, c, d, at)
})

function storeTurned(emitter: Emitter, low: Limb, high: Limb, at: number): void {
  emitter.get(locals.ADDRESS)
  if (isKnown(low) && isKnown(high)) {
    emitter.vector(wasm.V128_CONST)
    emitter.out.bytes(paddedBytes((high << 64n) | low, 16))
  } else {
    emitter.limb(low)
    emitter.vector(wasm.I64X2_SPLAT)
    emitter.limb(high)
    emitter.vector(wasm.I64X2_REPLACE_LANE)
    emitter.op(1)
    emitter.set(locals.VECTOR)
    turn(emitter)
  }
  emitter.vectorAccess(wasm.V128_STORE, at)
}

const compileStoreByte: Compile = access(1, (trace, _, at) => {
  const { emitter, stack } = trace
  const low = stack.limb(stack.popWord(), 0)
  emitter.get(locals.ADDRESS)
  emitter.limb(low)
  emitter.op(wasm.I64_STORE8)
  emitter.op(0)
  emitter.out.unsigned(at)
})

/** The source's address and length are numbers in memory. */
function copyFrom(place: PushNumber, length: PushNumber): Compile {
  return called('copyIn', { isLong: true, numbers: [place, length] })
}

type PushNumber = (trace: TraceBuilder) => void

function frameNumber(offset: number): PushNumber {
  return ({ emitter }) => emitter.frame32(offset)
}

/** Topics are below each other. */
function compileLog(count: number): Compile {
  return (trace: TraceBuilder, step: TraceStep) => {
    const exit = trace.exit(step.pc)
    const { emitter, stack } = trace
    needChangeable(trace, exit)
    needGasUntilYield(trace, exit)
    const words = [stack.pop(), stack.pop()]
    for (let n = 0; n < count; n++) emitter.putWord(stack.pop(), operand(6 - n))
    const numbers = [() => emitter.i32(count), () => emitter.i32(operand(6))]
    callHelper(trace, 'log', { exit, words, numbers })
    trace.emitter.readLimit()
  }
}

export const MEMORY_OPERATIONS: readonly Row[] = [
  [OP.KECCAK256, called('hashMemory', { isLong: true })],
  [OP.CALLDATALOAD, called('loadInput')],
  [
    OP.CALLDATACOPY,
    copyFrom(frameNumber(layout.FRAME_INPUT), frameNumber(layout.FRAME_INPUT_LENGTH)),
  ],
  [OP.CODECOPY, copyFrom(frameNumber(layout.FRAME_CODE), frameNumber(layout.FRAME_CODE_LENGTH))],
  [OP.MLOAD, compileLoad],
  [OP.MSTORE, compileStore],
  [OP.MSTORE8, compileStoreByte],
  [OP.MCOPY, called('copyWithin', { isLong: true })],
  ...[0, 1, 2, 3, 4].map((count): Row => [OP.LOG0 + count, compileLog(count)]),
]
