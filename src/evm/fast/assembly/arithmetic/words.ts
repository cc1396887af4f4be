// 256-bit words as four little-endian 64-bit limbs. Operands are at `a` and `b`; the result replaces `b`, and `a` may change.
import { SCRATCH } from '../../layout'

export const WORD: usize = 32

@inline
export function isShort(a: usize): bool {
  return (load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0
}

@inline
export function isIndex(a: usize): bool {
  return isShort(a) && load<u64>(a) < 0x100000000
}

@inline
export function isZero(a: usize): bool {
  return (load<u64>(a) | load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0
}

@inline
export function isEqual(a: usize, b: usize): bool {
  return (
    ((load<u64>(a) ^ load<u64>(b)) |
      (load<u64>(a, 8) ^ load<u64>(b, 8)) |
      (load<u64>(a, 16) ^ load<u64>(b, 16)) |
      (load<u64>(a, 24) ^ load<u64>(b, 24))) == 0
  )
}

@inline
export function setShort(a: usize, value: u64): void {
  store<u64>(a, value)
  store<u64>(a, 0, 8)
  v128.store(a, i64x2.splat(0), 16)
}

@inline
export function copyWord(target: usize, source: usize): void {
  const low = v128.load(source)
  const high = v128.load(source, 16)
  v128.store(target, low)
  v128.store(target, high, 16)
}

/** Converts between big-endian bytes and limbs, both ways. */
@inline
export function turnWord(target: usize, source: usize): void {
  const high = v128.load(source)
  const low = v128.load(source, 16)
  v128.store(target, v128.shuffle<u8>(low, low, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
  v128.store(target, v128.shuffle<u8>(high, high, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 16)
}

@inline
export function mulHigh(x: u64, y: u64): u64 {
  const x0 = x & 0xffffffff
  const x1 = x >> 32
  const y0 = y & 0xffffffff
  const y1 = y >> 32
  const middle = x1 * y0 + ((x0 * y0) >> 32)
  const other = x0 * y1 + (middle & 0xffffffff)
  return x1 * y1 + (middle >> 32) + (other >> 32)
}

@inline
export function add(a: usize, b: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const r0 = load<u64>(b) + a0
  let carry = u64(r0 < a0)
  let sum = load<u64>(b, 8) + carry
  carry = u64(sum < carry)
  const r1 = sum + a1
  carry |= u64(r1 < a1)
  sum = load<u64>(b, 16) + carry
  carry = u64(sum < carry)
  const r2 = sum + a2
  carry |= u64(r2 < a2)
  store<u64>(b, r0)
  store<u64>(b, r1, 8)
  store<u64>(b, r2, 16)
  store<u64>(b, load<u64>(b, 24) + load<u64>(a, 24) + carry, 24)
}

@inline
export function sub(a: usize, b: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const b2 = load<u64>(b, 16)
  let borrow = u64(a0 < b0)
  const d1 = a1 - b1
  const r1 = d1 - borrow
  borrow = u64(a1 < b1) | u64(d1 < borrow)
  const d2 = a2 - b2
  const r2 = d2 - borrow
  borrow = u64(a2 < b2) | u64(d2 < borrow)
  store<u64>(b, a0 - b0)
  store<u64>(b, r1, 8)
  store<u64>(b, r2, 16)
  store<u64>(b, load<u64>(a, 24) - load<u64>(b, 24) - borrow, 24)
}

export function mul(a: usize, b: usize): void {
  const a0 = load<u64>(a)
  const b0 = load<u64>(b)
  if (isShort(a) && isShort(b)) {
    store<u64>(b, a0 * b0)
    store<u64>(b, mulHigh(a0, b0), 8)
    return
  }
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const b1 = load<u64>(b, 8)
  const b2 = load<u64>(b, 16)
  // by columns, without those beyond the fourth limb
  let r1 = mulHigh(a0, b0)
  let r2: u64 = 0
  let r3: u64 = 0
  let term = a0 * b1
  r1 += term
  r2 += u64(r1 < term)
  term = a1 * b0
  r1 += term
  r2 += u64(r1 < term)
  term = mulHigh(a0, b1)
  r2 += term
  r3 += u64(r2 < term)
  term = mulHigh(a1, b0)
  r2 += term
  r3 += u64(r2 < term)
  term = a0 * b2
  r2 += term
  r3 += u64(r2 < term)
  term = a1 * b1
  r2 += term
  r3 += u64(r2 < term)
  term = a2 * b0
  r2 += term
  r3 += u64(r2 < term)
  r3 += mulHigh(a0, b2) + mulHigh(a1, b1) + mulHigh(a2, b0)
  r3 += a0 * load<u64>(b, 24) + a1 * b2 + a2 * b1 + load<u64>(a, 24) * b0
  store<u64>(b, a0 * b0)
  store<u64>(b, r1, 8)
  store<u64>(b, r2, 16)
  store<u64>(b, r3, 24)
}

export function isBelow(a: usize, b: usize): bool {
  for (let i: usize = 24; i > 0; i -= 8) {
    const x = load<u64>(a + i)
    const y = load<u64>(b + i)
    if (x != y) return x < y
  }
  return load<u64>(a) < load<u64>(b)
}

export function isSignedBelow(a: usize, b: usize): bool {
  const x = load<i64>(a, 24)
  const y = load<i64>(b, 24)
  return x == y ? isBelow(a, b) : x < y
}

@inline
export function isNegative(a: usize): bool {
  return load<i64>(a, 24) < 0
}

export function negate(a: usize): void {
  let carry: u64 = 1
  for (let i: usize = 0; i < WORD; i += 8) {
    const limb = ~load<u64>(a + i) + carry
    carry &= u64(limb == 0)
    store<u64>(a + i, limb)
  }
}

export function exp(a: usize, b: usize): void {
  const base: usize = SCRATCH + 256
  const exponent: usize = SCRATCH + 288
  const result: usize = SCRATCH + 320
  copyWord(base, a)
  copyWord(exponent, b)
  setShort(result, 1)
  let bits = bitLength(exponent)
  for (let i: u32 = 0; i < bits; i++) {
    if ((load<u64>(exponent + ((i >> 6) << 3)) >> (i & 63)) & 1) mul(base, result)
    copyWord(SCRATCH + 352, base)
    mul(SCRATCH + 352, base)
  }
  copyWord(b, result)
}

/** Without leading zeros. */
export function bitLength(a: usize): u32 {
  for (let i: i32 = 3; i >= 0; i--) {
    const limb = load<u64>(a + (i << 3))
    if (limb != 0) return ((i as u32) << 6) + 64 - (clz<u64>(limb) as u32)
  }
  return 0
}

export function leadingZeros(a: usize): void {
  setShort(a, (256 - bitLength(a)) as u64)
}

export function signExtend(a: usize, b: usize): void {
  if (!isShort(a) || load<u64>(a) > 30) return
  const bit = (load<u32>(a) << 3) + 7
  const limb: usize = bit >> 6
  const shift: u64 = 63 - (bit & 63)
  const value = (load<i64>(b + (limb << 3)) << shift) >> shift
  store<i64>(b + (limb << 3), value)
  for (let i: usize = limb + 1; i < 4; i++) store<i64>(b + (i << 3), value >> 63)
}

export function byteAt(a: usize, b: usize): void {
  const isInside = isShort(a) && load<u64>(a) < 32
  setShort(b, isInside ? (load<u8>(b + 31 - load<u32>(a)) as u64) : 0)
}

export function shiftLeft(a: usize, b: usize): void {
  if (!isShort(a) || load<u64>(a) > 255) return setShort(b, 0)
  const count = load<u32>(a)
  const limbs = count >> 6
  const bits: u64 = count & 63
  let r0 = load<u64>(b)
  let r1 = load<u64>(b, 8)
  let r2 = load<u64>(b, 16)
  let r3 = load<u64>(b, 24)
  if (limbs & 2) {
    r3 = r1
    r2 = r0
    r1 = 0
    r0 = 0
  }
  if (limbs & 1) {
    r3 = r2
    r2 = r1
    r1 = r0
    r0 = 0
  }
  if (bits) {
    r3 = (r3 << bits) | (r2 >> (64 - bits))
    r2 = (r2 << bits) | (r1 >> (64 - bits))
    r1 = (r1 << bits) | (r0 >> (64 - bits))
    r0 <<= bits
  }
  store<u64>(b, r0)
  store<u64>(b, r1, 8)
  store<u64>(b, r2, 16)
  store<u64>(b, r3, 24)
}

export function shiftRight(a: usize, b: usize): void {
  shiftDown(a, b, 0)
}

export function shiftRightSigned(a: usize, b: usize): void {
  shiftDown(a, b, (load<i64>(b, 24) >> 63) as u64)
}

/** Shifts right and fills with bits of `fill`. */
@inline
function shiftDown(a: usize, b: usize, fill: u64): void {
  const isFar = !isShort(a) || load<u64>(a) > 255
  const count: u32 = isFar ? 255 : load<u32>(a)
  const limbs = count >> 6
  const bits: u64 = count & 63
  let r0 = load<u64>(b)
  let r1 = load<u64>(b, 8)
  let r2 = load<u64>(b, 16)
  let r3 = load<u64>(b, 24)
  if (limbs & 2) {
    r0 = r2
    r1 = r3
    r2 = fill
    r3 = fill
  }
  if (limbs & 1) {
    r0 = r1
    r1 = r2
    r2 = r3
    r3 = fill
  }
  if (bits) {
    r0 = (r0 >> bits) | (r1 << (64 - bits))
    r1 = (r1 >> bits) | (r2 << (64 - bits))
    r2 = (r2 >> bits) | (r3 << (64 - bits))
    r3 = (r3 >> bits) | (fill << (64 - bits))
  }
  store<u64>(b, isFar ? fill : r0)
  store<u64>(b, isFar ? fill : r1, 8)
  store<u64>(b, isFar ? fill : r2, 16)
  store<u64>(b, isFar ? fill : r3, 24)
}

export function setEmptyHash(target: usize): void {
  store<u64>(target, 0x7bfad8045d85a470)
  store<u64>(target, 0xe500b653ca82273b, 8)
  store<u64>(target, 0x927e7db2dcc703c0, 16)
  store<u64>(target, 0xc5d2460186f7233c, 24)
}
