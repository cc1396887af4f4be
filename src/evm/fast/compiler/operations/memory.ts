// Compiles memory, hashes, copies and logs.
import { OP } from '../../../opcodes.ts'
import {
  FLAG_STATIC,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_FLAGS,
  FRAME_INPUT,
  FRAME_INPUT_LENGTH,
  FRAME_MEMORY_SIZE,
  RETURN_DATA,
  RETURN_LENGTH,
} from '../../layout.ts'
import type { Word } from '../trace/stack.ts'
import type { Exit, Step, Trace } from '../trace/trace.ts'
import {
  ADDRESS_LOCAL,
  type Emitter,
  FRAME_LOCAL,
  GAS_LOCAL,
  LIMIT_LOCAL,
  type Limb,
  MEMORY_LOCAL,
  VECTOR_LOCAL,
  YIELD_LOCAL,
} from '../wasm/emitter.ts'
import {
  I8X16_SHUFFLE,
  I32_ADD,
  I32_AND,
  I32_EQZ,
  I32_WRAP_I64,
  I64_ADD,
  I64_EXTEND_I32_U,
  I64_LT_S,
  I64_LT_U,
  I64_SHR_U,
  I64_STORE8,
  I64X2_EXTRACT_LANE,
  I64X2_REPLACE_LANE,
  I64X2_SPLAT,
  V128_CONST,
  V128_LOAD,
  V128_STORE,
} from '../wasm/instructions.ts'
import { isKnown, or, orAll } from '../wasm/limbs.ts'
import { type Compile, operand, type Row } from './operation.ts'

/** Known offsets from here on are the interpreter's: they do not fit where instructions have them. */
const FAR = 0x4000_0000n

/** The bytes of a vector backwards: memory is big-endian, limbs are not. */
const BACKWARDS = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

/** An operation that reads or writes 32 bytes, or one, at an offset. */
function access(length: number, use: (trace: Trace, offset: Word, at: number) => void): Compile {
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

/** Expands the memory when it is too small for a word at the offset, or for one byte. */
function reach(trace: Trace, word: Word, length: number, exit: Exit): void {
  const { emitter } = trace
  const offset = trace.limb(word, 0)
  if (isKnown(offset)) {
    const end = Number(offset) + length
    if (end <= trace.knownMemory) return
    trace.knownMemory = end
  }
  emitter.limb(offset)
  emitter.get(LIMIT_LOCAL)
  emitter.op(I64_LT_U)
  emitter.op(I32_EQZ)
  emitter.if()
  if (length < 32) ifBeyond(emitter, offset, () => expand(trace, offset, length, exit))
  else expand(trace, offset, length, exit)
  emitter.end()
}

/** The last 31 bytes hold no word, but single bytes. */
function ifBeyond(emitter: Emitter, offset: Limb, then: () => void): void {
  emitter.limb(offset)
  emitter.get(FRAME_LOCAL)
  emitter.load32(FRAME_MEMORY_SIZE)
  emitter.op(I64_EXTEND_I32_U)
  emitter.op(I64_LT_U)
  emitter.op(I32_EQZ)
  emitter.if()
  then()
  emitter.end()
}

function expand(trace: Trace, offset: Limb, length: number, exit: Exit): void {
  const { emitter } = trace
  emitter.get(FRAME_LOCAL)
  emitter.limb(offset)
  emitter.i64(BigInt(length))
  emitter.get(GAS_LOCAL)
  trace.call('expandMemory')
  trace.payOrLeave(exit)
  trace.readLimit()
}

/** Leaves the place in ADDRESS_LOCAL; what is to be added to it comes back. */
function place(trace: Trace, word: Word): number {
  const { emitter } = trace
  const offset = trace.limb(word, 0)
  emitter.get(MEMORY_LOCAL)
  if (!isKnown(offset)) {
    emitter.limb(offset)
    emitter.op(I32_WRAP_I64)
    emitter.op(I32_ADD)
  }
  emitter.set(ADDRESS_LOCAL)
  return isKnown(offset) ? Number(offset) : 0
}

const compileLoad: Compile = access(32, (trace, _, at) => {
  const { emitter, stack } = trace
  const [a, b] = loadTurned(emitter, at + 16)
  const [c, d] = loadTurned(emitter, at)
  stack.push([a, b, c, d])
})

/** Two limbs from 16 bytes. */
function loadTurned(emitter: Emitter, at: number): readonly [Limb, Limb] {
  emitter.get(ADDRESS_LOCAL)
  emitter.vectorAccess(V128_LOAD, at)
  emitter.set(VECTOR_LOCAL)
  turn(emitter)
  emitter.set(VECTOR_LOCAL)
  return [lane(emitter, 0), lane(emitter, 1)]
}

function turn(emitter: Emitter): void {
  emitter.get(VECTOR_LOCAL)
  emitter.get(VECTOR_LOCAL)
  emitter.vector(I8X16_SHUFFLE)
  emitter.out.bytes(BACKWARDS)
}

function lane(emitter: Emitter, index: number): Limb {
  emitter.get(VECTOR_LOCAL)
  emitter.vector(I64X2_EXTRACT_LANE)
  emitter.op(index)
  return emitter.keep()
}

const compileStore: Compile = access(32, (trace, _, at) => {
  const { emitter, stack } = trace
  const [a, b, c, d] = stack.pop()
  storeTurned(emitter, a, b, at + 16)
  storeTurned(emitter, c, d, at)
})

/** Two limbs into 16 bytes. */
function storeTurned(emitter: Emitter, low: Limb, high: Limb, at: number): void {
  emitter.get(ADDRESS_LOCAL)
  if (isKnown(low) && isKnown(high)) {
    emitter.vector(V128_CONST)
    emitter.out.bytes(bytesOf((high << 64n) | low))
  } else {
    emitter.limb(low)
    emitter.vector(I64X2_SPLAT)
    if (low !== high) {
      emitter.limb(high)
      emitter.vector(I64X2_REPLACE_LANE)
      emitter.op(1)
    }
    emitter.set(VECTOR_LOCAL)
    turn(emitter)
  }
  emitter.vectorAccess(V128_STORE, at)
}

/** 16 bytes, big-endian. */
function bytesOf(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex')
}

const compileStoreByte: Compile = access(1, (trace, _, at) => {
  const { emitter, stack } = trace
  const low = stack.limb(stack.popWord(), 0)
  emitter.get(ADDRESS_LOCAL)
  emitter.limb(low)
  emitter.op(I64_STORE8)
  emitter.op(0)
  emitter.out.unsigned(at)
})

/** Takes words from the stack and puts them where helpers find them. */
function putOperands(trace: Trace, count: number): void {
  for (let n = 0; n < count; n++) trace.emitter.putWord(trace.stack.pop(), operand(n))
}

/** Leaves when what was paid on the way has used up the gas until its yield: long operations in a row would keep others waiting. */
function needGasUntilYield(trace: Trace, exit: Exit): void {
  const { emitter } = trace
  emitter.get(GAS_LOCAL)
  emitter.get(YIELD_LOCAL)
  emitter.op(I64_LT_S)
  trace.leaveIf(exit)
}

/** Ends a helper's arguments with the gas, calls it, and goes on when that was enough. */
function callWithGas(
  trace: Trace,
  helper: 'hashMemory' | 'copyIn' | 'copyWithin' | 'log',
  exit: Exit,
): void {
  trace.emitter.get(GAS_LOCAL)
  trace.call(helper)
  trace.payOrLeave(exit)
  trace.readLimit()
}

const compileHash: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  needGasUntilYield(trace, exit)
  putOperands(trace, 2)
  const { emitter } = trace
  emitter.get(FRAME_LOCAL)
  emitter.i32(operand(0))
  emitter.i32(operand(1))
  emitter.i32(operand(2))
  callWithGas(trace, 'hashMemory', exit)
  trace.stack.push(emitter.takeWord(operand(2)))
}

/** Copies into memory; what is copied stands at a place, and has a length, that numbers in memory tell. */
function copyFrom(
  pushPlace: (emitter: Emitter) => void,
  pushLength: (emitter: Emitter) => void,
): Compile {
  return (trace, step) => {
    const exit = trace.exit(step.pc)
    needGasUntilYield(trace, exit)
    putOperands(trace, 3)
    callCopy(trace, exit, pushPlace, pushLength)
  }
}

function callCopy(
  trace: Trace,
  exit: Exit,
  pushPlace: (emitter: Emitter) => void,
  pushLength: (emitter: Emitter) => void,
): void {
  const { emitter } = trace
  emitter.get(FRAME_LOCAL)
  for (let n = 0; n < 3; n++) emitter.i32(operand(n))
  pushPlace(emitter)
  pushLength(emitter)
  callWithGas(trace, 'copyIn', exit)
}

function frameNumber(offset: number): (emitter: Emitter) => void {
  return (emitter) => {
    emitter.get(FRAME_LOCAL)
    emitter.load32(offset)
  }
}

function globalNumber(place: number): (emitter: Emitter) => void {
  return (emitter) => {
    emitter.i32(0)
    emitter.load32(place)
  }
}

/** RETURNDATACOPY may not read over the end; then it is the interpreter's. */
const compileReturnCopy: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  needGasUntilYield(trace, exit)
  const { emitter, stack } = trace
  const target = stack.pop()
  const offset = stack.popWord()
  const length = stack.popWord()
  trace.needZero(orAll(emitter, [...trace.upper(offset), ...trace.upper(length)]), exit)
  const from = trace.limb(offset, 0)
  const count = trace.limb(length, 0)
  // neither may be so long that their sum overflows
  emitter.limb(or(emitter, from, count))
  emitter.i64(32n)
  emitter.op(I64_SHR_U)
  trace.needZero(emitter.keep(), exit)
  globalNumber(RETURN_LENGTH)(emitter)
  emitter.op(I64_EXTEND_I32_U)
  emitter.limb(from)
  emitter.limb(count)
  emitter.op(I64_ADD)
  emitter.op(I64_LT_U)
  trace.leaveIf(exit)
  emitter.putWord(target, operand(0))
  emitter.putWord(stack.limbs(offset), operand(1))
  emitter.putWord(stack.limbs(length), operand(2))
  callCopy(trace, exit, globalNumber(RETURN_DATA), globalNumber(RETURN_LENGTH))
}

/** MCOPY. */
const compileCopyWithin: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  needGasUntilYield(trace, exit)
  putOperands(trace, 3)
  const { emitter } = trace
  emitter.get(FRAME_LOCAL)
  for (let n = 0; n < 3; n++) emitter.i32(operand(n))
  callWithGas(trace, 'copyWithin', exit)
}

/** CALLDATALOAD. */
const compileInput: Compile = (trace) => {
  const { emitter, stack } = trace
  emitter.putWord(stack.pop(), operand(0))
  emitter.get(FRAME_LOCAL)
  emitter.i32(operand(0))
  trace.call('loadInput')
  stack.push(emitter.takeWord(operand(0)))
}

/** Leaves when the frame may not change the state. */
export function needChangeable(trace: Trace, exit: Exit): void {
  const { emitter } = trace
  emitter.get(FRAME_LOCAL)
  emitter.load32(FRAME_FLAGS)
  emitter.i32(FLAG_STATIC)
  emitter.op(I32_AND)
  trace.leaveIf(exit)
}

/** LOG0 to LOG4. Topics stand one below the other. */
function compileLog(count: number): Compile {
  return (trace: Trace, step: Step) => {
    const exit = trace.exit(step.pc)
    const { emitter, stack } = trace
    needChangeable(trace, exit)
    needGasUntilYield(trace, exit)
    putOperands(trace, 2)
    for (let n = 0; n < count; n++) emitter.putWord(stack.pop(), operand(6 - n))
    emitter.get(FRAME_LOCAL)
    emitter.i32(count)
    emitter.i32(operand(0))
    emitter.i32(operand(1))
    emitter.i32(operand(6))
    callWithGas(trace, 'log', exit)
  }
}

/** All of them. */
export const MEMORY_OPERATIONS: readonly Row[] = [
  [OP.KECCAK256, compileHash],
  [OP.CALLDATALOAD, compileInput],
  [OP.CALLDATACOPY, copyFrom(frameNumber(FRAME_INPUT), frameNumber(FRAME_INPUT_LENGTH))],
  [OP.CODECOPY, copyFrom(frameNumber(FRAME_CODE), frameNumber(FRAME_CODE_LENGTH))],
  [OP.RETURNDATACOPY, compileReturnCopy],
  [OP.MLOAD, compileLoad],
  [OP.MSTORE, compileStore],
  [OP.MSTORE8, compileStoreByte],
  [OP.MCOPY, compileCopyWithin],
  ...[0, 1, 2, 3, 4].map((count): Row => [OP.LOG0 + count, compileLog(count)]),
]
