// Division of long words, by Knuth's algorithm D over limbs of 64 bits, with a reciprocal in place of divisions:
// WebAssembly divides 64 by 64 bits at most. @see Möller, Granlund: Improved division by invariant integers (2011)
import { SCRATCH } from '../layout'
import { copyWord, isNegative, isShort, isZero, mulHigh, negate, WORD } from './words'

/** The dividend, up to nine limbs, in which the remainder is left. */
const DIVIDEND: usize = SCRATCH
/** The divisor, moved to the left until its highest bit is set. */
const DIVISOR: usize = SCRATCH + 96
const QUOTIENT: usize = SCRATCH + 160

/** b = a / b, and 0 when b is 0. */
export function div(a: usize, b: usize): void {
  if (isShort(b)) {
    const divisor = load<u64>(b)
    if (divisor == 0) return
    if (isShort(a)) {
      store<u64>(b, load<u64>(a) / divisor)
      return
    }
  }
  takeDividend(a)
  memory.fill(QUOTIENT, 0, WORD)
  divide(4, b, true)
  copyWord(b, QUOTIENT)
}

/** b = a % b, and 0 when b is 0. */
export function mod(a: usize, b: usize): void {
  if (isShort(b)) {
    const divisor = load<u64>(b)
    if (divisor == 0) return
    if (isShort(a)) {
      store<u64>(b, load<u64>(a) % divisor)
      return
    }
  }
  takeDividend(a)
  divide(4, b, false)
  copyWord(b, DIVIDEND)
}

export function signedDiv(a: usize, b: usize): void {
  const isOpposite = isNegative(a) != isNegative(b)
  if (isNegative(a)) negate(a)
  if (isNegative(b)) negate(b)
  div(a, b)
  if (isOpposite) negate(b)
}

/** The result has the sign of a. */
export function signedMod(a: usize, b: usize): void {
  const isBelowZero = isNegative(a)
  if (isBelowZero) negate(a)
  if (isNegative(b)) negate(b)
  mod(a, b)
  if (isBelowZero) negate(b)
}

/** c = (a + b) % c, and 0 when c is 0. */
export function addMod(a: usize, b: usize, c: usize): void {
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

/** c = (a * b) % c, and 0 when c is 0. */
export function mulMod(a: usize, b: usize, c: usize): void {
  if (isZero(c)) return
  memory.fill(DIVIDEND, 0, 72)
  for (let i: usize = 0; i < WORD; i += 8) {
    const x = load<u64>(a + i)
    if (x == 0) continue
    let carry: u64 = 0
    for (let j: usize = 0; j < WORD; j += 8) {
      const y = load<u64>(b + j)
      const low = x * y
      const sum = low + load<u64>(DIVIDEND + i + j)
      const whole = sum + carry
      carry = mulHigh(x, y) + u64(sum < low) + u64(whole < sum)
      store<u64>(DIVIDEND + i + j, whole)
    }
    store<u64>(DIVIDEND + i, carry, 32)
  }
  divide(8, c, false)
  copyWord(c, DIVIDEND)
}

@inline
function takeDividend(a: usize): void {
  copyWord(DIVIDEND, a)
  store<u64>(DIVIDEND, 0, 32)
}

/** Divides DIVIDEND, of `length` limbs and room for one more, by the word at `divisor`, which is not 0. */
function divide(length: i32, divisor: usize, keepsQuotient: bool): void {
  let size: i32 = 4
  while (load<u64>(divisor + ((size - 1) << 3)) == 0) size--
  while (length > 0 && load<u64>(DIVIDEND + ((length - 1) << 3)) == 0) length--
  if (length < size) return
  const shift = clz<u64>(load<u64>(divisor + ((size - 1) << 3)))
  normalize(DIVISOR, divisor, size, shift)
  store<u64>(DIVIDEND + (length << 3), normalize(DIVIDEND, DIVIDEND, length, shift))
  const top = load<u64>(DIVISOR + ((size - 1) << 3))
  const reciprocal = reciprocalOf(top)
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

/** Moves limbs to the left by less than a limb. @returns the bits that went out */
function normalize(target: usize, source: usize, length: i32, shift: u64): u64 {
  let out: u64 = 0
  for (let i: i32 = 0; i < length; i++) {
    const limb = load<u64>(source + (i << 3))
    store<u64>(target + (i << 3), (limb << shift) | out)
    out = shift ? limb >> (64 - shift) : 0
  }
  return out
}

/** One digit of the quotient; the dividend at `u`, of size + 1 limbs, becomes the remainder. */
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
  // the digit was guessed by the divisor's highest limb only: up to two too large
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

/** (2^128 - 1) / d - 2^64, for a d whose highest bit is set. */
function reciprocalOf(d: u64): u64 {
  const d1 = d >> 32
  const d0 = d & 0xffffffff
  // the quotient of ~d and all ones by d, in two digits of 32 bits
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

/** Two limbs by one, the higher below it. */
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
