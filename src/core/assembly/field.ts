// The field that the curve's coordinates are in, in AssemblyScript: integers modulo p = 2^256 - 2^32 - 977.
//
// An element is ten limbs of 26 bits, the lowest first, each in 32 bits of memory: sums of products fit 64 bits. A limb
// may be a little longer than its 26 bits; how much is the magnitude: limbs are below 2 · magnitude · 2^26 (the last,
// of 22 bits, below 2 · magnitude · 2^22). What `multiply`, `square` and `subtract` give has magnitude 1, what they take
// may have 4. Only what `normalize` was called on has one form alone.

/** Bytes of an element. */
export const ELEMENT: usize = 40

const LIMB: u64 = 0x3ffffff
const TOP_LIMB: u64 = 0x3fffff

/** 2^256 modulo p is this and 2^32, which is 64 in the second limb. */
const FOLD: u64 = 977

@inline
function limb(a: usize, i: usize): u64 {
  return load<u32>(a + 4 * i)
}

@inline
function setLimb(a: usize, i: usize, value: u64): void {
  store<u32>(a + 4 * i, <u32>value)
}

export function copy(r: usize, a: usize): void {
  memory.copy(r, a, ELEMENT)
}

export function setOne(r: usize): void {
  memory.fill(r, 0, ELEMENT)
  setLimb(r, 0, 1)
}

/** r = a + b; the magnitudes add up. */
export function add(r: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < 10; i++) setLimb(r, i, limb(a, i) + limb(b, i))
}

/** r = a - b, where b has a magnitude of 3 at most. */
export function subtract(r: usize, a: usize, b: usize): void {
  // 8p is added, limb by limb, so that no limb falls below 0
  let carry = limb(a, 0) + 8 * 0x3fffc2f - limb(b, 0)
  const low = carry & LIMB
  carry = (carry >> 26) + limb(a, 1) + 8 * 0x3ffffbf - limb(b, 1)
  const second = carry & LIMB
  for (let i: usize = 2; i < 9; i++) {
    carry = (carry >> 26) + limb(a, i) + 8 * LIMB - limb(b, i)
    setLimb(r, i, carry & LIMB)
  }
  carry = (carry >> 26) + limb(a, 9) + 8 * TOP_LIMB - limb(b, 9)
  setLimb(r, 9, carry & TOP_LIMB)
  fold(r, low, second, carry >> 22)
}

/** Adds what is beyond 256 bits, below 2^26, to the two lowest limbs, which are given, and carries on. */
@inline
function fold(r: usize, low: u64, second: u64, over: u64): void {
  let carry = low + over * FOLD
  setLimb(r, 0, carry & LIMB)
  carry = (carry >> 26) + second + (over << 6)
  setLimb(r, 1, carry & LIMB)
  for (let i: usize = 2; i < 10; i++) {
    carry = (carry >> 26) + limb(r, i)
    setLimb(r, i, i < 9 ? carry & LIMB : carry)
  }
}

/** Gives an element of a magnitude up to 4 its one form: below p. */
export function normalize(r: usize): void {
  let over = limb(r, 9) >> 22
  setLimb(r, 9, limb(r, 9) & TOP_LIMB)
  fold(r, limb(r, 0), limb(r, 1), over)
  // once more where there is a carry beyond 256 bits, or where it is p or above
  over = limb(r, 9) >> 22
  if (over == 0 && isBelowPrime(r)) return
  if (over == 0) over = 1
  fold(r, limb(r, 0), limb(r, 1), over)
  setLimb(r, 9, limb(r, 9) & TOP_LIMB)
}

/** True when an element without carries is below p. */
function isBelowPrime(r: usize): bool {
  if (limb(r, 9) != TOP_LIMB) return true
  for (let i: usize = 2; i < 9; i++) if (limb(r, i) != LIMB) return true
  return limb(r, 1) + 64 + ((limb(r, 0) + FOLD) >> 26) <= LIMB
}

/** Of a normalized element. */
export function isZero(a: usize): bool {
  for (let i: usize = 0; i < 10; i++) if (limb(a, i) != 0) return false
  return true
}

/** Of a normalized element. */
export function isOdd(a: usize): bool {
  return (limb(a, 0) & 1) != 0
}

/** r = a · b: each limb with each, 38 ns. */
export function multiply(r: usize, a: usize, b: usize): void {
  const a0 = limb(a, 0)
  const a1 = limb(a, 1)
  const a2 = limb(a, 2)
  const a3 = limb(a, 3)
  const a4 = limb(a, 4)
  const a5 = limb(a, 5)
  const a6 = limb(a, 6)
  const a7 = limb(a, 7)
  const a8 = limb(a, 8)
  const a9 = limb(a, 9)
  const b0 = limb(b, 0)
  const b1 = limb(b, 1)
  const b2 = limb(b, 2)
  const b3 = limb(b, 3)
  const b4 = limb(b, 4)
  const b5 = limb(b, 5)
  const b6 = limb(b, 6)
  const b7 = limb(b, 7)
  const b8 = limb(b, 8)
  const b9 = limb(b, 9)
  const c0 = a0 * b0
  const c1 = a0 * b1 + a1 * b0
  const c2 = a0 * b2 + a1 * b1 + a2 * b0
  const c3 = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
  const c4 = a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0
  const c5 = a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0
  const c6 = a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0
  const c7 = a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0
  const c8 = a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0
  const c9 =
    a0 * b9 + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 +
    a9 * b0
  const c10 = a1 * b9 + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 + a9 * b1
  const c11 = a2 * b9 + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 + a9 * b2
  const c12 = a3 * b9 + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 + a9 * b3
  const c13 = a4 * b9 + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 + a9 * b4
  const c14 = a5 * b9 + a6 * b8 + a7 * b7 + a8 * b6 + a9 * b5
  const c15 = a6 * b9 + a7 * b8 + a8 * b7 + a9 * b6
  const c16 = a7 * b9 + a8 * b8 + a9 * b7
  const c17 = a8 * b9 + a9 * b8
  const c18 = a9 * b9
  reduce(
    r,
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18,
  )
}

/** r = a²: nearly half of the products are pairs of equal ones. */
export function square(r: usize, a: usize): void {
  const a0 = limb(a, 0)
  const a1 = limb(a, 1)
  const a2 = limb(a, 2)
  const a3 = limb(a, 3)
  const a4 = limb(a, 4)
  const a5 = limb(a, 5)
  const a6 = limb(a, 6)
  const a7 = limb(a, 7)
  const a8 = limb(a, 8)
  const a9 = limb(a, 9)
  const d0 = a0 << 1
  const d1 = a1 << 1
  const d2 = a2 << 1
  const d3 = a3 << 1
  const d4 = a4 << 1
  const d5 = a5 << 1
  const d6 = a6 << 1
  const d7 = a7 << 1
  const d8 = a8 << 1
  const c0 = a0 * a0
  const c1 = d0 * a1
  const c2 = d0 * a2 + a1 * a1
  const c3 = d0 * a3 + d1 * a2
  const c4 = d0 * a4 + d1 * a3 + a2 * a2
  const c5 = d0 * a5 + d1 * a4 + d2 * a3
  const c6 = d0 * a6 + d1 * a5 + d2 * a4 + a3 * a3
  const c7 = d0 * a7 + d1 * a6 + d2 * a5 + d3 * a4
  const c8 = d0 * a8 + d1 * a7 + d2 * a6 + d3 * a5 + a4 * a4
  const c9 = d0 * a9 + d1 * a8 + d2 * a7 + d3 * a6 + d4 * a5
  const c10 = d1 * a9 + d2 * a8 + d3 * a7 + d4 * a6 + a5 * a5
  const c11 = d2 * a9 + d3 * a8 + d4 * a7 + d5 * a6
  const c12 = d3 * a9 + d4 * a8 + d5 * a7 + a6 * a6
  const c13 = d4 * a9 + d5 * a8 + d6 * a7
  const c14 = d5 * a9 + d6 * a8 + a7 * a7
  const c15 = d6 * a9 + d7 * a8
  const c16 = d7 * a9 + a8 * a8
  const c17 = d8 * a9
  const c18 = a9 * a9
  reduce(
    r,
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18,
  )
}

/** r = a^(2^count). */
export function squareTimes(r: usize, a: usize, count: i32): void {
  square(r, a)
  for (let i = 1; i < count; i++) square(r, r)
}

/**
 * The element whose digits in base 2^26 are c0 to c18, each below 2^63.4. Digit 10 + i stands for 2^260 times digit i,
 * and 2^260 modulo p is 0x3d10 + 2^36.
 */
@inline
function reduce(
  r: usize,
  c0: u64, c1: u64, c2: u64, c3: u64, c4: u64, c5: u64,
  c6: u64, c7: u64, c8: u64, c9: u64, c10: u64, c11: u64,
  c12: u64, c13: u64, c14: u64, c15: u64, c16: u64, c17: u64,
  c18: u64,
): void {
  c11 += c10 >> 26
  c12 += c11 >> 26
  c13 += c12 >> 26
  c14 += c13 >> 26
  c15 += c14 >> 26
  c16 += c15 >> 26
  c17 += c16 >> 26
  c18 += c17 >> 26
  const c19 = c18 >> 26
  c10 &= LIMB
  c11 &= LIMB
  c12 &= LIMB
  c13 &= LIMB
  c14 &= LIMB
  c15 &= LIMB
  c16 &= LIMB
  c17 &= LIMB
  c18 &= LIMB
  c0 += c10 * 0x3d10
  c1 += c11 * 0x3d10 + (c10 << 10) + (c0 >> 26)
  c2 += c12 * 0x3d10 + (c11 << 10) + (c1 >> 26)
  c3 += c13 * 0x3d10 + (c12 << 10) + (c2 >> 26)
  c4 += c14 * 0x3d10 + (c13 << 10) + (c3 >> 26)
  c5 += c15 * 0x3d10 + (c14 << 10) + (c4 >> 26)
  c6 += c16 * 0x3d10 + (c15 << 10) + (c5 >> 26)
  c7 += c17 * 0x3d10 + (c16 << 10) + (c6 >> 26)
  c8 += c18 * 0x3d10 + (c17 << 10) + (c7 >> 26)
  c9 += c19 * 0x3d10 + (c18 << 10) + (c8 >> 26)
  const over = (c9 >> 22) + (c19 << 14)
  c0 = (c0 & LIMB) + over * 977
  c1 = (c1 & LIMB) + (over << 6) + (c0 >> 26)
  c2 = (c2 & LIMB) + (c1 >> 26)
  c3 = (c3 & LIMB) + (c2 >> 26)
  c4 = (c4 & LIMB) + (c3 >> 26)
  c5 = (c5 & LIMB) + (c4 >> 26)
  c6 = (c6 & LIMB) + (c5 >> 26)
  c7 = (c7 & LIMB) + (c6 >> 26)
  c8 = (c8 & LIMB) + (c7 >> 26)
  c9 = (c9 & TOP_LIMB) + (c8 >> 26)
  setLimb(r, 0, c0 & LIMB)
  setLimb(r, 1, c1 & LIMB)
  setLimb(r, 2, c2 & LIMB)
  setLimb(r, 3, c3 & LIMB)
  setLimb(r, 4, c4 & LIMB)
  setLimb(r, 5, c5 & LIMB)
  setLimb(r, 6, c6 & LIMB)
  setLimb(r, 7, c7 & LIMB)
  setLimb(r, 8, c8 & LIMB)
  setLimb(r, 9, c9)
}

const X2: usize = memory.data(40, 8)
const X3: usize = memory.data(40, 8)
const X22: usize = memory.data(40, 8)
const X44: usize = memory.data(40, 8)
const X88: usize = memory.data(40, 8)
const POWER: usize = memory.data(40, 8)

/** POWER = a^(2^223 - 1), and X2 = a^3, X22 = a^(2^22 - 1): what inverse and square root begin with. */
function raise(a: usize): void {
  square(X2, a)
  multiply(X2, X2, a)
  square(X3, X2)
  multiply(X3, X3, a)
  squareTimes(POWER, X3, 3)
  multiply(POWER, POWER, X3) // 6 ones
  squareTimes(POWER, POWER, 3)
  multiply(POWER, POWER, X3) // 9
  squareTimes(POWER, POWER, 2)
  multiply(X22, POWER, X2) // 11
  squareTimes(POWER, X22, 11)
  multiply(X22, POWER, X22)
  squareTimes(X44, X22, 22)
  multiply(X44, X44, X22)
  squareTimes(X88, X44, 44)
  multiply(X88, X88, X44)
  squareTimes(POWER, X88, 88)
  multiply(POWER, POWER, X88) // 176
  squareTimes(POWER, POWER, 44)
  multiply(POWER, POWER, X44) // 220
  squareTimes(POWER, POWER, 3)
  multiply(POWER, POWER, X3) // 223
}

/** r = 1 / a, as a^(p - 2) (Fermat); 0 for 0. r is not a. */
export function invert(r: usize, a: usize): void {
  raise(a)
  squareTimes(r, POWER, 23)
  multiply(r, r, X22)
  squareTimes(r, r, 5)
  multiply(r, r, a)
  squareTimes(r, r, 3)
  multiply(r, r, X2)
  squareTimes(r, r, 2)
  multiply(r, r, a)
}

/** r = a^((p + 1) / 4), a root of a when there is one. r is not a. */
export function squareRoot(r: usize, a: usize): void {
  raise(a)
  squareTimes(r, POWER, 23)
  multiply(r, r, X22)
  squareTimes(r, r, 6)
  multiply(r, r, X2)
  squareTimes(r, r, 2)
}

/** Reads 32 big-endian bytes, below p. */
export function read(r: usize, bytes: usize): void {
  const w0 = bswap<u64>(load<u64>(bytes, 24))
  const w1 = bswap<u64>(load<u64>(bytes, 16))
  const w2 = bswap<u64>(load<u64>(bytes, 8))
  const w3 = bswap<u64>(load<u64>(bytes))
  setLimb(r, 0, w0 & LIMB)
  setLimb(r, 1, (w0 >> 26) & LIMB)
  setLimb(r, 2, ((w0 >> 52) | (w1 << 12)) & LIMB)
  setLimb(r, 3, (w1 >> 14) & LIMB)
  setLimb(r, 4, ((w1 >> 40) | (w2 << 24)) & LIMB)
  setLimb(r, 5, (w2 >> 2) & LIMB)
  setLimb(r, 6, (w2 >> 28) & LIMB)
  setLimb(r, 7, ((w2 >> 54) | (w3 << 10)) & LIMB)
  setLimb(r, 8, (w3 >> 16) & LIMB)
  setLimb(r, 9, w3 >> 42)
}

/** Writes a normalized element as 32 big-endian bytes. */
export function write(bytes: usize, a: usize): void {
  const w0 = limb(a, 0) | (limb(a, 1) << 26) | (limb(a, 2) << 52)
  const w1 = (limb(a, 2) >> 12) | (limb(a, 3) << 14) | (limb(a, 4) << 40)
  const w2 =
    (limb(a, 4) >> 24) | (limb(a, 5) << 2) | (limb(a, 6) << 28) | (limb(a, 7) << 54)
  const w3 = (limb(a, 7) >> 10) | (limb(a, 8) << 16) | (limb(a, 9) << 42)
  store<u64>(bytes, bswap<u64>(w0), 24)
  store<u64>(bytes, bswap<u64>(w1), 16)
  store<u64>(bytes, bswap<u64>(w2), 8)
  store<u64>(bytes, bswap<u64>(w3))
}
