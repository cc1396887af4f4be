// Products modulo a long number that comes again, as the moduli of elliptic curves do: by a reciprocal that is kept
// (Barrett), over limbs of 29 bits, whose products add up in 64 bits without carries. It is faster than a division.
import { MODULI } from '../../layout'
import { DIVIDEND, divide, multiply, QUOTIENT } from './division'
import { copyWord, isEqual, isZero } from './words'

/** Bits of a limb, and all of them. */
const BITS: u64 = 29
const ALL: u64 = 0x1fffffff

/** A kept modulus: itself, its state, where the quotient's limbs begin within others, its limbs, the reciprocal's limbs. */
const ENTRY: usize = 208
const STATE: usize = 32
const SHIFT: usize = 40
const LIMBS: usize = 48
const RECIPROCAL: usize = 120

/** Seen once: a reciprocal takes as long as two divisions. */
const SEEN: u64 = 0
const READY: u64 = 1
/** A power of two. */
const REFUSED: u64 = 2

/** Moduli have 251 to 256 bits. */
const LOWEST: u64 = 1 << 58

/** c = (a * b) % c, and 0 when c is 0. */
export function mulMod(a: usize, b: usize, c: usize): void {
  if (mulModKept(a, b, c) || isZero(c)) return
  multiply(a, b)
  divide(8, c, false)
  copyWord(c, DIVIDEND)
}

/** c = (a * b) % c if that can be done in this way. */
function mulModKept(a: usize, b: usize, c: usize): bool {
  if (load<u64>(c, 24) < LOWEST) return false
  const low = load<u64>(c)
  const index = ((low ^ (low >> 7)) & 3) as usize
  const entry = MODULI + index * ENTRY
  if (!isEqual(entry, c)) {
    copyWord(entry, c)
    store<u64>(entry, SEEN, STATE)
    return false
  }
  const state = load<u64>(entry, STATE)
  if (state != READY && (state == REFUSED || !makeReady(entry))) return false
  reduce(a, b, c, entry)
  return true
}

/** Computes what a modulus needs. @returns whether it is fit */
function makeReady(entry: usize): bool {
  const length = 256 - clz<u64>(load<u64>(entry, 24))
  // 2^(290 + length) / modulus, of 291 bits
  memory.fill(DIVIDEND, 0, 96)
  const bit = 290 + length
  store<u64>(DIVIDEND + (((bit >> 6) << 3) as usize), (1 as u64) << (bit & 63))
  memory.fill(QUOTIENT, 0, 64)
  divide(9, entry, true)
  if (load<u64>(QUOTIENT, 32) >> 35) {
    store<u64>(entry, REFUSED, STATE)
    return false
  }
  for (let i: u64 = 0; i < 10; i++) store<u64>(entry + ((i << 3) as usize), bitsAt(QUOTIENT, i * BITS), RECIPROCAL)
  // what the quotient is computed from begins 28 bits below the modulus' highest
  store<u64>(entry, length - 231, SHIFT)
  copyWord(DIVIDEND, entry)
  store<u64>(DIVIDEND, 0, 32)
  for (let i: u64 = 0; i < 9; i++) store<u64>(entry + ((i << 3) as usize), bitsAt(DIVIDEND, i * BITS), LIMBS)
  store<u64>(entry, READY, STATE)
  return true
}

/** 29 bits from a bit on. */
function bitsAt(place: usize, bit: u64): u64 {
  const at = place + (((bit >> 6) << 3) as usize)
  const within = bit & 63
  const upper = within ? load<u64>(at, 8) << (64 - within) : 0
  return ((load<u64>(at) >> within) | upper) & ALL
}

/**
 * c = (a * b) mod m, by Barrett's reduction with the reciprocal that the entry keeps (Handbook of Applied Cryptography, 14.42):
 *
 *   x = a * b                  18 limbs, column by column; no column overflows 64 bits. A square needs half of the products
 *   y = x >> ...               the ten limbs of it that decide on the quotient
 *   q = y * reciprocal >> ...  the quotient, or one less
 *   r = x - q * m              the lowest nine limbs alone, as the others are 0; less m once more where q was one less
 *
 * It is written out, as limbs that have names stay in registers.
 */
function reduce(a: usize, b: usize, c: usize, entry: usize): void {
  const shift = load<u64>(entry, SHIFT)
  const w0 = load<u64>(a)
  const w1 = load<u64>(a, 8)
  const w2 = load<u64>(a, 16)
  const w3 = load<u64>(a, 24)
  const a0 = w0 & ALL
  const a1 = (w0 >> 29) & ALL
  const a2 = ((w0 >> 58) | (w1 << 6)) & ALL
  const a3 = (w1 >> 23) & ALL
  const a4 = ((w1 >> 52) | (w2 << 12)) & ALL
  const a5 = (w2 >> 17) & ALL
  const a6 = ((w2 >> 46) | (w3 << 18)) & ALL
  const a7 = (w3 >> 11) & ALL
  const a8 = w3 >> 40
  let x0: u64
  let x1: u64
  let x2: u64
  let x3: u64
  let x4: u64
  let x5: u64
  let x6: u64
  let x7: u64
  let x8: u64
  let x9: u64
  let x10: u64
  let x11: u64
  let x12: u64
  let x13: u64
  let x14: u64
  let x15: u64
  let x16: u64
  let t: u64
  if (isEqual(a, b)) {
    // a square needs half of the products
    t = a0 * a0
    x0 = t & ALL
    t = (t >> BITS) + (a0 * a1 << 1)
    x1 = t & ALL
    t = (t >> BITS) + (a0 * a2 << 1) + a1 * a1
    x2 = t & ALL
    t = (t >> BITS) + ((a0 * a3 + a1 * a2) << 1)
    x3 = t & ALL
    t = (t >> BITS) + ((a0 * a4 + a1 * a3) << 1) + a2 * a2
    x4 = t & ALL
    t = (t >> BITS) + ((a0 * a5 + a1 * a4 + a2 * a3) << 1)
    x5 = t & ALL
    t = (t >> BITS) + ((a0 * a6 + a1 * a5 + a2 * a4) << 1) + a3 * a3
    x6 = t & ALL
    t = (t >> BITS) + ((a0 * a7 + a1 * a6 + a2 * a5 + a3 * a4) << 1)
    x7 = t & ALL
    t = (t >> BITS) + ((a0 * a8 + a1 * a7 + a2 * a6 + a3 * a5) << 1) + a4 * a4
    x8 = t & ALL
    t = (t >> BITS) + ((a1 * a8 + a2 * a7 + a3 * a6 + a4 * a5) << 1)
    x9 = t & ALL
    t = (t >> BITS) + ((a2 * a8 + a3 * a7 + a4 * a6) << 1) + a5 * a5
    x10 = t & ALL
    t = (t >> BITS) + ((a3 * a8 + a4 * a7 + a5 * a6) << 1)
    x11 = t & ALL
    t = (t >> BITS) + ((a4 * a8 + a5 * a7) << 1) + a6 * a6
    x12 = t & ALL
    t = (t >> BITS) + ((a5 * a8 + a6 * a7) << 1)
    x13 = t & ALL
    t = (t >> BITS) + (a6 * a8 << 1) + a7 * a7
    x14 = t & ALL
    t = (t >> BITS) + (a7 * a8 << 1)
    x15 = t & ALL
    t = (t >> BITS) + a8 * a8
    x16 = t & ALL
  } else {
    const z0 = load<u64>(b)
    const z1 = load<u64>(b, 8)
    const z2 = load<u64>(b, 16)
    const z3 = load<u64>(b, 24)
    const b0 = z0 & ALL
    const b1 = (z0 >> 29) & ALL
    const b2 = ((z0 >> 58) | (z1 << 6)) & ALL
    const b3 = (z1 >> 23) & ALL
    const b4 = ((z1 >> 52) | (z2 << 12)) & ALL
    const b5 = (z2 >> 17) & ALL
    const b6 = ((z2 >> 46) | (z3 << 18)) & ALL
    const b7 = (z3 >> 11) & ALL
    const b8 = z3 >> 40
    t = a0 * b0
    x0 = t & ALL
    t = (t >> BITS) + a0 * b1 + a1 * b0
    x1 = t & ALL
    t = (t >> BITS) + a0 * b2 + a1 * b1 + a2 * b0
    x2 = t & ALL
    t = (t >> BITS) + a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
    x3 = t & ALL
    t = (t >> BITS) + a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0
    x4 = t & ALL
    t = (t >> BITS) + a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0
    x5 = t & ALL
    t = (t >> BITS) + a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0
    x6 = t & ALL
    t = (t >> BITS) + a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0
    x7 = t & ALL
    t = (t >> BITS) + a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0
    x8 = t & ALL
    t = (t >> BITS) + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1
    x9 = t & ALL
    t = (t >> BITS) + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2
    x10 = t & ALL
    t = (t >> BITS) + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3
    x11 = t & ALL
    t = (t >> BITS) + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4
    x12 = t & ALL
    t = (t >> BITS) + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5
    x13 = t & ALL
    t = (t >> BITS) + a6 * b8 + a7 * b7 + a8 * b6
    x14 = t & ALL
    t = (t >> BITS) + a7 * b8 + a8 * b7
    x15 = t & ALL
    t = (t >> BITS) + a8 * b8
    x16 = t & ALL
  }
  const x17 = t >> BITS
  // its upper limbs: those that decide on the quotient
  const back = BITS - shift
  const y0 = (x7 >> shift) | ((x8 << back) & ALL)
  const y1 = (x8 >> shift) | ((x9 << back) & ALL)
  const y2 = (x9 >> shift) | ((x10 << back) & ALL)
  const y3 = (x10 >> shift) | ((x11 << back) & ALL)
  const y4 = (x11 >> shift) | ((x12 << back) & ALL)
  const y5 = (x12 >> shift) | ((x13 << back) & ALL)
  const y6 = (x13 >> shift) | ((x14 << back) & ALL)
  const y7 = (x14 >> shift) | ((x15 << back) & ALL)
  const y8 = (x15 >> shift) | ((x16 << back) & ALL)
  const y9 = (x16 >> shift) | ((x17 << back) & ALL)
  // the quotient: these times the reciprocal, whose highest bit is not kept, times two
  const v0 = load<u64>(entry, RECIPROCAL + 0)
  const v1 = load<u64>(entry, RECIPROCAL + 8)
  const v2 = load<u64>(entry, RECIPROCAL + 16)
  const v3 = load<u64>(entry, RECIPROCAL + 24)
  const v4 = load<u64>(entry, RECIPROCAL + 32)
  const v5 = load<u64>(entry, RECIPROCAL + 40)
  const v6 = load<u64>(entry, RECIPROCAL + 48)
  const v7 = load<u64>(entry, RECIPROCAL + 56)
  const v8 = load<u64>(entry, RECIPROCAL + 64)
  const v9 = load<u64>(entry, RECIPROCAL + 72)
  t = y0 * v9 + y1 * v8 + y2 * v7 + y3 * v6 + y4 * v5 + y5 * v4 + y6 * v3 + y7 * v2 + y8 * v1 + y9 * v0
  t = (t >> BITS) + y0 + y1 * v9 + y2 * v8 + y3 * v7 + y4 * v6 + y5 * v5 + y6 * v4 + y7 * v3 + y8 * v2 + y9 * v1
  t = (t >> 28) + ((y1 + y2 * v9 + y3 * v8 + y4 * v7 + y5 * v6 + y6 * v5 + y7 * v4 + y8 * v3 + y9 * v2) << 1)
  const q0 = t & ALL
  t = (t >> BITS) + ((y2 + y3 * v9 + y4 * v8 + y5 * v7 + y6 * v6 + y7 * v5 + y8 * v4 + y9 * v3) << 1)
  const q1 = t & ALL
  t = (t >> BITS) + ((y3 + y4 * v9 + y5 * v8 + y6 * v7 + y7 * v6 + y8 * v5 + y9 * v4) << 1)
  const q2 = t & ALL
  t = (t >> BITS) + ((y4 + y5 * v9 + y6 * v8 + y7 * v7 + y8 * v6 + y9 * v5) << 1)
  const q3 = t & ALL
  t = (t >> BITS) + ((y5 + y6 * v9 + y7 * v8 + y8 * v7 + y9 * v6) << 1)
  const q4 = t & ALL
  t = (t >> BITS) + ((y6 + y7 * v9 + y8 * v8 + y9 * v7) << 1)
  const q5 = t & ALL
  t = (t >> BITS) + ((y7 + y8 * v9 + y9 * v8) << 1)
  const q6 = t & ALL
  t = (t >> BITS) + ((y8 + y9 * v9) << 1)
  const q7 = t & ALL
  const q8 = (t >> BITS) + (y9 << 1)
  // the rest; what is above its limbs is 0
  const m0 = load<u64>(entry, LIMBS + 0)
  const m1 = load<u64>(entry, LIMBS + 8)
  const m2 = load<u64>(entry, LIMBS + 16)
  const m3 = load<u64>(entry, LIMBS + 24)
  const m4 = load<u64>(entry, LIMBS + 32)
  const m5 = load<u64>(entry, LIMBS + 40)
  const m6 = load<u64>(entry, LIMBS + 48)
  const m7 = load<u64>(entry, LIMBS + 56)
  const m8 = load<u64>(entry, LIMBS + 64)
  let s: i64 = (x0 - q0 * m0) as i64
  let r0 = (s as u64) & ALL
  s = (s >> 29) + ((x1 - (q0 * m1 + q1 * m0)) as i64)
  let r1 = (s as u64) & ALL
  s = (s >> 29) + ((x2 - (q0 * m2 + q1 * m1 + q2 * m0)) as i64)
  let r2 = (s as u64) & ALL
  s = (s >> 29) + ((x3 - (q0 * m3 + q1 * m2 + q2 * m1 + q3 * m0)) as i64)
  let r3 = (s as u64) & ALL
  s = (s >> 29) + ((x4 - (q0 * m4 + q1 * m3 + q2 * m2 + q3 * m1 + q4 * m0)) as i64)
  let r4 = (s as u64) & ALL
  s = (s >> 29) + ((x5 - (q0 * m5 + q1 * m4 + q2 * m3 + q3 * m2 + q4 * m1 + q5 * m0)) as i64)
  let r5 = (s as u64) & ALL
  s = (s >> 29) + ((x6 - (q0 * m6 + q1 * m5 + q2 * m4 + q3 * m3 + q4 * m2 + q5 * m1 + q6 * m0)) as i64)
  let r6 = (s as u64) & ALL
  s = (s >> 29) + ((x7 - (q0 * m7 + q1 * m6 + q2 * m5 + q3 * m4 + q4 * m3 + q5 * m2 + q6 * m1 + q7 * m0)) as i64)
  let r7 = (s as u64) & ALL
  s = (s >> 29) + ((x8 - (q0 * m8 + q1 * m7 + q2 * m6 + q3 * m5 + q4 * m4 + q5 * m3 + q6 * m2 + q7 * m1 +
    q8 * m0)) as i64)
  let r8 = (s as u64) & ALL
  // nearly never: the quotient was one too small
  if (r8 >= m8) {
    const isBelow = r8 == m8 && isBelowRest(entry, r0, r1, r2, r3, r4, r5, r6, r7)
    if (!isBelow) {
      s = ((r0 - m0) as i64)
      r0 = (s as u64) & ALL
      s = (s >> 29) + ((r1 - m1) as i64)
      r1 = (s as u64) & ALL
      s = (s >> 29) + ((r2 - m2) as i64)
      r2 = (s as u64) & ALL
      s = (s >> 29) + ((r3 - m3) as i64)
      r3 = (s as u64) & ALL
      s = (s >> 29) + ((r4 - m4) as i64)
      r4 = (s as u64) & ALL
      s = (s >> 29) + ((r5 - m5) as i64)
      r5 = (s as u64) & ALL
      s = (s >> 29) + ((r6 - m6) as i64)
      r6 = (s as u64) & ALL
      s = (s >> 29) + ((r7 - m7) as i64)
      r7 = (s as u64) & ALL
      s = (s >> 29) + ((r8 - m8) as i64)
      r8 = (s as u64) & ALL
    }
  }
  store<u64>(c, r0 | (r1 << 29) | (r2 << 58))
  store<u64>(c, (r2 >> 6) | (r3 << 23) | (r4 << 52), 8)
  store<u64>(c, (r4 >> 12) | (r5 << 17) | (r6 << 46), 16)
  store<u64>(c, (r6 >> 18) | (r7 << 11) | (r8 << 40), 24)
}

/** Whether the lower limbs are less than the modulus has. */
function isBelowRest(
  entry: usize, r0: u64, r1: u64, r2: u64, r3: u64, r4: u64, r5: u64, r6: u64, r7: u64,
): bool {
  const m7 = load<u64>(entry, LIMBS + 56)
  if (r7 != m7) return r7 < m7
  const m6 = load<u64>(entry, LIMBS + 48)
  if (r6 != m6) return r6 < m6
  const m5 = load<u64>(entry, LIMBS + 40)
  if (r5 != m5) return r5 < m5
  const m4 = load<u64>(entry, LIMBS + 32)
  if (r4 != m4) return r4 < m4
  const m3 = load<u64>(entry, LIMBS + 24)
  if (r3 != m3) return r3 < m3
  const m2 = load<u64>(entry, LIMBS + 16)
  if (r2 != m2) return r2 < m2
  const m1 = load<u64>(entry, LIMBS + 8)
  if (r1 != m1) return r1 < m1
  return r0 < load<u64>(entry, LIMBS)
}
