// Barrett multiplication for repeated long moduli, as of elliptic curves, faster than division. Limbs of 29 bits make products
// add up in 64 bits without carries. build/reduce.mjs generates the reduction.
import { MODULI, MODULUS, MODULUS_LIMBS, MODULUS_RECIPROCAL, MODULUS_SHIFT, MODULUS_STATE } from '../../layout'
import { DIVIDEND, divide, multiply, QUOTIENT } from './division'
import { reduce } from './reduce.generated'
import { copyWord, isEqual, isZero } from './words'

const BITS: u64 = 29
const ALL: u64 = 0x1fffffff

/** Seen once: a reciprocal costs as much as two divisions. */
const SEEN: u64 = 0
const READY: u64 = 1
/** A power of two. */
const REFUSED: u64 = 2

/** Moduli have 251 to 256 bits. */
const LOWEST: u64 = 1 << 58

/** c = (a * b) % c; 0 if c is 0. */
export function mulMod(a: usize, b: usize, c: usize): void {
  if (mulModKept(a, b, c) || isZero(c)) return
  multiply(a, b)
  divide(8, c, false)
  copyWord(c, DIVIDEND)
}

/** Returns false if the modulus has no cached reciprocal. */
function mulModKept(a: usize, b: usize, c: usize): bool {
  if (load<u64>(c, 24) < LOWEST) return false
  const low = load<u64>(c)
  const index = ((low ^ (low >> 7)) & 3) as usize
  const entry = MODULI + index * MODULUS
  if (!isEqual(entry, c)) {
    copyWord(entry, c)
    store<u64>(entry, SEEN, MODULUS_STATE)
    return false
  }
  const state = load<u64>(entry, MODULUS_STATE)
  if (state != READY && (state == REFUSED || !makeReady(entry))) return false
  reduce(a, b, c, entry)
  return true
}

function makeReady(entry: usize): bool {
  const length = 256 - clz<u64>(load<u64>(entry, 24))
  memory.fill(DIVIDEND, 0, 96)
  const bit = 290 + length
  store<u64>(DIVIDEND + (((bit >> 6) << 3) as usize), (1 as u64) << (bit & 63))
  memory.fill(QUOTIENT, 0, 64)
  divide(9, entry, true)
  if (load<u64>(QUOTIENT, 32) >> 35) {
    store<u64>(entry, REFUSED, MODULUS_STATE)
    return false
  }
  for (let i: u64 = 0; i < 10; i++) store<u64>(entry + ((i << 3) as usize), bitsAt(QUOTIENT, i * BITS), MODULUS_RECIPROCAL)
  // the quotient estimate starts 28 bits below the highest bit of the modulus
  store<u64>(entry, length - 231, MODULUS_SHIFT)
  copyWord(DIVIDEND, entry)
  store<u64>(DIVIDEND, 0, 32)
  for (let i: u64 = 0; i < 9; i++) store<u64>(entry + ((i << 3) as usize), bitsAt(DIVIDEND, i * BITS), MODULUS_LIMBS)
  store<u64>(entry, READY, MODULUS_STATE)
  return true
}

function bitsAt(place: usize, bit: u64): u64 {
  const at = place + (((bit >> 6) << 3) as usize)
  const within = bit & 63
  const upper = within ? load<u64>(at, 8) << (64 - within) : 0
  return ((load<u64>(at) >> within) | upper) & ALL
}
