// Compiles arithmetic, comparisons and bit operations.
import { OP } from '../../../opcodes.ts'
import { type Emitter, type Limb, type Limbs, MAX_LIMB } from '../wasm/emitter.ts'
import type { Helper } from '../wasm/helpers.ts'
import { I64_DIV_U, I64_EQZ, I64_REM_U } from '../wasm/instructions.ts'
import { and, isKnown, knownWord, limbsOf, or, orAll, xor } from '../wasm/limbs.ts'
import {
  addWords,
  either,
  isWordBelow,
  isWordSame,
  isWordSignedBelow,
  isWordZero,
  mulShort,
  mulWords,
  shiftWordLeft,
  shiftWordRight,
  shiftWordRightSigned,
  subWords,
} from './arithmetic.ts'
import { type Compile, called, callHelper, callOnWords, type Row } from './operation.ts'

function pure(compute: (emitter: Emitter, a: Limbs, b: Limbs) => Limbs): Compile {
  return ({ emitter, stack }) => {
    const a = stack.pop()
    const b = stack.pop()
    stack.push(compute(emitter, a, b))
  }
}

function test(compute: (emitter: Emitter, a: Limbs, b: Limbs) => Limb): Compile {
  return pure((emitter, a, b) => [compute(emitter, a, b), 0n, 0n, 0n])
}

/** AND, OR, XOR by limb; limbs that cannot matter are not read. */
function bitwise(compute: (emitter: Emitter, x: Limb, y: Limb) => Limb, absorbs: Limb): Compile {
  return ({ emitter, stack }) => {
    const a = stack.popWord()
    const b = stack.popWord()
    const limb = (i: number): Limb => {
      if (a.limbs[i] === absorbs || b.limbs[i] === absorbs) return absorbs
      return compute(emitter, stack.limb(a, i), stack.limb(b, i))
    }
    stack.push([limb(0), limb(1), limb(2), limb(3)])
  }
}

const compileMul: Compile = (trace) => {
  const { emitter, stack } = trace
  const a = stack.pop()
  const b = stack.pop()
  const short = (): Limbs => mulShort(emitter, a[0], b[0])
  stack.push(
    mulWords(emitter, a, b) ??
      either(emitter, upperOf(emitter, a, b), short, () => callOnWords(trace, 'mul', [a, b])),
  )
}

function upperOf(emitter: Emitter, a: Limbs, b: Limbs): Limb {
  return orAll(emitter, [a[1], a[2], a[3], b[1], b[2], b[3]])
}

function division(helper: 'div' | 'mod', opcode: number): Compile {
  return (trace) => {
    const { emitter, stack } = trace
    const a = stack.pop()
    const b = stack.pop()
    if (knownWord(b) === 0n) return stack.pushValue(0n)
    const short = (): Limbs => [divideShort(emitter, opcode, a[0], b[0]), 0n, 0n, 0n]
    stack.push(
      either(emitter, upperOf(emitter, a, b), short, () => callOnWords(trace, helper, [a, b])),
    )
  }
}

function divideShort(emitter: Emitter, opcode: number, a: Limb, b: Limb): Limb {
  if (b === 0n) return 0n
  const result = emitter.newLocal()
  const divide = (): void => {
    emitter.limb(a)
    emitter.limb(b)
    emitter.op(opcode)
    emitter.set(result)
  }
  if (isKnown(b)) {
    divide()
    return result
  }
  emitter.get(b)
  emitter.op(I64_EQZ)
  emitter.if()
  emitter.i64(0n)
  emitter.set(result)
  emitter.else()
  divide()
  emitter.end()
  return result
}

const compileNot: Compile = ({ emitter, stack }) => {
  const [a, b, c, d] = stack.pop()
  const not = (limb: Limb): Limb => xor(emitter, limb, MAX_LIMB)
  stack.push([not(a), not(b), not(c), not(d)])
}

const compileIsZero: Compile = ({ emitter, stack }) => {
  stack.pushLimb(isWordZero(emitter, stack.pop()))
}

/** Inline for a known count, as it mostly is. */
function shift(
  byKnown: (emitter: Emitter, a: Limbs, bits: number) => Limbs,
  helper: Helper,
  longest: number | undefined,
): Compile {
  return (trace) => {
    const { emitter, stack } = trace
    const count = stack.pop()
    const value = stack.pop()
    const known = knownWord(count)
    if (known === undefined) return stack.push(callOnWords(trace, helper, [count, value]))
    if (known < 256n) return stack.push(byKnown(emitter, value, Number(known)))
    stack.push(longest === undefined ? limbsOf(0n) : byKnown(emitter, value, longest))
  }
}

/** SAR by 255 bits or more leaves only the sign. */
const SIGN_ONLY = 255

const compileExp: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  const { stack } = trace
  const base = stack.pop()
  const exponent = stack.pop()
  callHelper(trace, 'payExponent', { exit, words: [exponent] })
  stack.push(callOnWords(trace, 'exp', [base, exponent]))
}

export const WORD_OPERATIONS: readonly Row[] = [
  [OP.ADD, pure(addWords)],
  [OP.MUL, compileMul],
  [OP.SUB, pure(subWords)],
  [OP.DIV, division('div', I64_DIV_U)],
  [OP.SDIV, called('signedDiv')],
  [OP.MOD, division('mod', I64_REM_U)],
  [OP.SMOD, called('signedMod')],
  [OP.ADDMOD, called('addMod')],
  [OP.MULMOD, called('mulMod')],
  [OP.EXP, compileExp],
  [OP.SIGNEXTEND, called('signExtend')],
  [OP.LT, test(isWordBelow)],
  [OP.GT, test((emitter, a, b) => isWordBelow(emitter, b, a))],
  [OP.SLT, test(isWordSignedBelow)],
  [OP.SGT, test((emitter, a, b) => isWordSignedBelow(emitter, b, a))],
  [OP.EQ, test(isWordSame)],
  [OP.ISZERO, compileIsZero],
  [OP.AND, bitwise(and, 0n)],
  [OP.OR, bitwise(or, MAX_LIMB)],
  [OP.XOR, bitwise(xor, -1n)],
  [OP.NOT, compileNot],
  [OP.BYTE, called('byteAt')],
  [OP.SHL, shift(shiftWordLeft, 'shiftLeft', undefined)],
  [OP.SHR, shift(shiftWordRight, 'shiftRight', undefined)],
  [OP.SAR, shift(shiftWordRightSigned, 'shiftRightSigned', SIGN_ONLY)],
  [OP.CLZ, called('leadingZeros')],
]
