// Arithmetic on limbs: folds constants, emits instructions for locals.
import { type Emitter, type Limb, type Limbs, MAX_LIMB } from './emitter.ts'
import * as wasm from './instructions.ts'

export function isKnown(limb: Limb | undefined): limb is bigint {
  return typeof limb === 'bigint'
}

function emit(emitter: Emitter, x: Limb, y: Limb, ...opcodes: readonly number[]): number {
  emitter.limb(x)
  emitter.limb(y)
  for (const opcode of opcodes) emitter.op(opcode)
  return emitter.keep()
}

export function and(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === 0n || y === 0n) return 0n
  if (x === MAX_LIMB || x === y) return y
  if (y === MAX_LIMB) return x
  return isKnown(x) && isKnown(y) ? x & y : emit(emitter, x, y, wasm.I64_AND)
}

export function or(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === 0n || x === y) return y
  if (y === 0n) return x
  if (x === MAX_LIMB || y === MAX_LIMB) return MAX_LIMB
  return isKnown(x) && isKnown(y) ? x | y : emit(emitter, x, y, wasm.I64_OR)
}

export function xor(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === y) return 0n
  if (x === 0n) return y
  if (y === 0n) return x
  return isKnown(x) && isKnown(y) ? x ^ y : emit(emitter, x, y, wasm.I64_XOR)
}

/** By 0 to 63 bits. */
export function shiftLeftBy(emitter: Emitter, x: Limb, bits: number): Limb {
  if (bits === 0 || x === 0n) return x
  if (isKnown(x)) return (x << BigInt(bits)) & MAX_LIMB
  return emit(emitter, x, BigInt(bits), wasm.I64_SHL)
}

export function shiftRightBy(emitter: Emitter, x: Limb, bits: number): Limb {
  if (bits === 0 || x === 0n) return x
  if (isKnown(x)) return x >> BigInt(bits)
  return emit(emitter, x, BigInt(bits), wasm.I64_SHR_U)
}

export function shiftRightSignedBy(emitter: Emitter, x: Limb, bits: number): Limb {
  if (bits === 0 || x === 0n) return x
  if (isKnown(x)) return BigInt.asUintN(64, BigInt.asIntN(64, x) >> BigInt(bits))
  return emit(emitter, x, BigInt(bits), wasm.I64_SHR_S)
}

/** 1 or 0, as all tests. */
export function isBelow(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (y === 0n || x === y || x === MAX_LIMB) return 0n
  if (isKnown(x) && isKnown(y)) return x < y ? 1n : 0n
  return emit(emitter, x, y, wasm.I64_LT_U, wasm.I64_EXTEND_I32_U)
}

export function isSame(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === y) return 1n
  if (x === 0n) return isZero(emitter, y)
  if (y === 0n) return isZero(emitter, x)
  if (isKnown(x) && isKnown(y)) return 0n
  return emit(emitter, x, y, wasm.I64_EQ, wasm.I64_EXTEND_I32_U)
}

export function isZero(emitter: Emitter, x: Limb): Limb {
  if (isKnown(x)) return x === 0n ? 1n : 0n
  emitter.get(x)
  emitter.op(wasm.I64_EQZ)
  emitter.op(wasm.I64_EXTEND_I32_U)
  return emitter.keep()
}

export function plus(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === 0n) return y
  if (y === 0n) return x
  return isKnown(x) && isKnown(y) ? (x + y) & MAX_LIMB : emit(emitter, x, y, wasm.I64_ADD)
}

export function minus(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (y === 0n) return x
  if (x === y) return 0n
  return isKnown(x) && isKnown(y) ? (x - y) & MAX_LIMB : emit(emitter, x, y, wasm.I64_SUB)
}

export function times(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === 0n || y === 0n) return 0n
  if (x === 1n) return y
  if (y === 1n) return x
  return isKnown(x) && isKnown(y) ? (x * y) & MAX_LIMB : emit(emitter, x, y, wasm.I64_MUL)
}

/** The upper half of a product, which WebAssembly lacks. */
export function timesHigh(emitter: Emitter, x: Limb, y: Limb): Limb {
  if (x === 0n || y === 0n || x === 1n || y === 1n) return 0n
  if (isKnown(x) && isKnown(y)) return (x * y) >> 64n
  const mask = 0xffff_ffffn
  const x0 = and(emitter, x, mask)
  const x1 = shiftRightBy(emitter, x, 32)
  const y0 = and(emitter, y, mask)
  const y1 = shiftRightBy(emitter, y, 32)
  const low = shiftRightBy(emitter, times(emitter, x0, y0), 32)
  const middle = plus(emitter, times(emitter, x1, y0), low)
  const middleLow = and(emitter, middle, mask)
  const other = plus(emitter, times(emitter, x0, y1), middleLow)
  const middleHigh = shiftRightBy(emitter, middle, 32)
  const sum = plus(emitter, times(emitter, x1, y1), middleHigh)
  return plus(emitter, sum, shiftRightBy(emitter, other, 32))
}

/** 0 only if all are 0. */
export function orAll(emitter: Emitter, limbs: readonly Limb[]): Limb {
  let result: Limb = 0n
  for (const limb of limbs) result = or(emitter, result, limb)
  return result
}

export function limbsOf(value: bigint): Limbs {
  return [
    value & MAX_LIMB,
    (value >> 64n) & MAX_LIMB,
    (value >> 128n) & MAX_LIMB,
    (value >> 192n) & MAX_LIMB,
  ]
}

export function knownWord([a, b, c, d]: readonly (Limb | undefined)[]): bigint | undefined {
  if (!isKnown(a) || !isKnown(b) || !isKnown(c) || !isKnown(d)) return undefined
  return a | (b << 64n) | (c << 128n) | (d << 192n)
}
