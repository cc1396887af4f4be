// Long division by Knuth's algorithm D over 64-bit limbs, with a reciprocal, as WebAssembly divides only 64 by 64 bits.
// @see Möller, Granlund: Improved division by invariant integers (2011)
import { SCRATCH } from '../../layout'
import { copyWord, isBelow, isNegative, isShort, isZero, mulHigh, negate, WORD } from './words'

/** Up to nine limbs; division leaves the remainder here. */
export const DIVIDEND: usize = SCRATCH
/** Shifted left until its highest bit is set. */
const DIVISOR: usize = SCRATCH + 96
export const QUOTIENT: usize = SCRATCH + 160
/** The reciprocal of the last divisor's highest limb is cached. */
const LAST_TOP: usize = SCRATCH + 400
const LAST_RECIPROCAL: usize = SCRATCH + 408

/** b = a / b; 0 if b is 0. */
export function div(a: usize, b: usize): void {
  divideWord(a, b, true)
}

/** b = a % b; 0 if b is 0. */
export function mod(a: usize, b: usize): void {
  divideWord(a, b, false)
}

@inline
function divideWord(a: usize, b: usize, wantsQuotient: bool): void {
  if (isShort(b)) {
    const divisor = load<u64>(b)
    if (divisor == 0) return
    if (isShort(a)) {
      store<u64>(b, wantsQuotient ? load<u64>(a) / divisor : load<u64>(a) % divisor)
      return
    }
  }
  copyWord(DIVIDEND, a)
  store<u64>(DIVIDEND, 0, 32)
  if (wantsQuotient) memory.fill(QUOTIENT, 0, WORD)
  divide(4, b, wantsQuotient)
  copyWord(b, wantsQuotient ? QUOTIENT : DIVIDEND)
}

export function signedDiv(a: usize, b: usize): void {
  const isOpposite = isNegative(a) != isNegative(b)
  if (isNegative(a)) negate(a)
  if (isNegative(b)) negate(b)
  div(a, b)
  if (isOpposite) negate(b)
}

export function signedMod(a: usize, b: usize): void {
  const isBelowZero = isNegative(a)
  if (isBelowZero) negate(a)
  if (isNegative(b)) negate(b)
  mod(a, b)
  if (isBelowZero) negate(b)
}

/** c = (a + b) % c; 0 if c is 0. */
export function addMod(a: usize, b: usize, c: usize): void {
  if (isBelow(a, c) && isBelow(b, c)) return addReduced(a, b, c)
  if (isZero(c)) return
  let carry: u64 = 0
  for (let i: usize = 0; i < WORD; i += 8) {
    const x = load<u64>(a + i)
    const sum = x + load<u64>(b + i)
    const whole = sum + carry
    carry = u64(sum < x) | u64(whole < sum)
    store<u64>(DIVIDEND + i, whole)
  }
  store<u64>(DIVIDEND, carry, 32)
  store<u64>(DIVIDEND, 0, 40)
  divide(5, c, false)
  copyWord(c, DIVIDEND)
}

/** For a, b < c: their sum is below 2c. */
function addReduced(a: usize, b: usize, c: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const s0 = a0 + load<u64>(b)
  let carry = u64(s0 < a0)
  let s1 = a1 + carry
  carry = u64(s1 < carry)
  s1 += load<u64>(b, 8)
  carry |= u64(s1 < load<u64>(b, 8))
  let s2 = a2 + carry
  carry = u64(s2 < carry)
  s2 += load<u64>(b, 16)
  carry |= u64(s2 < load<u64>(b, 16))
  let s3 = a3 + carry
  carry = u64(s3 < carry)
  s3 += load<u64>(b, 24)
  carry |= u64(s3 < load<u64>(b, 24))
  const d0 = s0 - load<u64>(c)
  let borrow = u64(s0 < load<u64>(c))
  const t1 = s1 - load<u64>(c, 8)
  const d1 = t1 - borrow
  borrow = u64(s1 < load<u64>(c, 8)) | u64(t1 < borrow)
  const t2 = s2 - load<u64>(c, 16)
  const d2 = t2 - borrow
  borrow = u64(s2 < load<u64>(c, 16)) | u64(t2 < borrow)
  const t3 = s3 - load<u64>(c, 24)
  const d3 = t3 - borrow
  borrow = u64(s3 < load<u64>(c, 24)) | u64(t3 < borrow)
  const isLess = carry < borrow
  store<u64>(c, isLess ? s0 : d0)
  store<u64>(c, isLess ? s1 : d1, 8)
  store<u64>(c, isLess ? s2 : d2, 16)
  store<u64>(c, isLess ? s3 : d3, 24)
}

/** Writes the full product and a zero limb to DIVIDEND. */
export function multiply(a: usize, b: usize): void {
  memory.fill(DIVIDEND, 0, 2 * WORD + 8)
  for (let i: usize = 0; i < WORD; i += 8) {
    const x = load<u64>(a + i)
    let carry: u64 = 0
    for (let j: usize = 0; j < WORD; j += 8) {
      const y = load<u64>(b + j)
      const low = x * y + carry
      carry = mulHigh(x, y) + u64(low < carry)
      const sum = load<u64>(DIVIDEND + i + j) + low
      carry += u64(sum < low)
      store<u64>(DIVIDEND + i + j, sum)
    }
    store<u64>(DIVIDEND + i + WORD, carry)
  }
}

/** Divides DIVIDEND, of `length` limbs and room for one more, by the non-zero word at `divisor`. */
export function divide(length: i32, divisor: usize, keepsQuotient: bool): void {
  let size: i32 = 4
  while (load<u64>(divisor + ((size - 1) << 3)) == 0) size--
  while (length > 0 && load<u64>(DIVIDEND + ((length - 1) << 3)) == 0) length--
  if (length < size) return
  const shift = clz<u64>(load<u64>(divisor + ((size - 1) << 3)))
  normalize(DIVISOR, divisor, size, shift)
  store<u64>(DIVIDEND + (length << 3), normalize(DIVIDEND, DIVIDEND, length, shift))
  const top = load<u64>(DIVISOR + ((size - 1) << 3))
  const reciprocal = knownReciprocal(top)
  for (let j = length - size; j >= 0; j--) {
    const digit = quotientDigit(DIVIDEND + (j << 3), size, top, reciprocal)
    if (keepsQuotient) store<u64>(QUOTIENT + (j << 3), digit)
  }
  if (shift) {
    for (let i: i32 = 0; i < size - 1; i++) {
      const p = DIVIDEND + (i << 3)
      store<u64>(p, (load<u64>(p) >> shift) | (load<u64>(p, 8) << (64 - shift)))
    }
    const p = DIVIDEND + ((size - 1) << 3)
    store<u64>(p, load<u64>(p) >> shift)
  }
}

/**
 * Shifts left by less than a limb.
 * @returns the bits shifted out
 */
function normalize(target: usize, source: usize, length: i32, shift: u64): u64 {
  let out: u64 = 0
  for (let i: i32 = 0; i < length; i++) {
    const limb = load<u64>(source + (i << 3))
    store<u64>(target + (i << 3), (limb << shift) | out)
    out = shift ? limb >> (64 - shift) : 0
  }
  return out
}

/** Returns one quotient digit; leaves the remainder in the size + 1 limbs at `u`. */
function quotientDigit(u: usize, size: i32, top: u64, reciprocal: u64): u64 {
  const end = u + (size << 3)
  const high = load<u64>(end)
  let digit: u64 = high >= top ? u64.MAX_VALUE : divideTwo(high, load<u64>(end - 8), top, reciprocal)
  let carry: u64 = 0
  for (let i: usize = 0; u + i < end; i += 8) {
    const limb = load<u64>(DIVISOR + i)
    const low = digit * limb + carry
    carry = mulHigh(digit, limb) + u64(low < carry)
    const x = load<u64>(u + i)
    carry += u64(x < low)
    store<u64>(u + i, x - low)
  }
  let above = high - carry
  let isTooLarge = high < carry
  // the guess from the highest limb is up to two too large
  while (isTooLarge) {
    digit--
    let c: u64 = 0
    for (let i: usize = 0; u + i < end; i += 8) {
      const x = load<u64>(u + i)
      const sum = x + load<u64>(DIVISOR + i)
      const whole = sum + c
      c = u64(sum < x) | u64(whole < sum)
      store<u64>(u + i, whole)
    }
    above += c
    isTooLarge = c == 0 || above != 0
  }
  store<u64>(end, above)
  return digit
}

/** Loops mostly repeat the divisor. */
@inline
function knownReciprocal(d: u64): u64 {
  if (load<u64>(LAST_TOP) != d) {
    store<u64>(LAST_TOP, d)
    store<u64>(LAST_RECIPROCAL, reciprocalOf(d))
  }
  return load<u64>(LAST_RECIPROCAL)
}

/** (2^128 - 1) / d - 2^64, for a d whose highest bit is set. */
function reciprocalOf(d: u64): u64 {
  const d1 = d >> 32
  const d0 = d & 0xffffffff
  // divides ~d and all ones by d, in two digits of 32 bits
  let high = ~d
  let q1 = high / d1
  let r = high - q1 * d1
  while (q1 > 0xffffffff || q1 * d0 > ((r << 32) | 0xffffffff)) {
    q1--
    r += d1
    if (r > 0xffffffff) break
  }
  high = ((high << 32) | 0xffffffff) - q1 * d
  let q0 = high / d1
  r = high - q0 * d1
  while (q0 > 0xffffffff || q0 * d0 > ((r << 32) | 0xffffffff)) {
    q0--
    r += d1
    if (r > 0xffffffff) break
  }
  return (q1 << 32) + q0
}

function divideTwo(high: u64, low: u64, d: u64, reciprocal: u64): u64 {
  let q0 = reciprocal * high
  let q1 = mulHigh(reciprocal, high)
  q0 += low
  q1 += high + u64(q0 < low) + 1
  let r = low - q1 * d
  if (r > q0) {
    q1--
    r += d
  }
  if (r >= d) {
    q1++
    r -= d
  }
  return q1
}
