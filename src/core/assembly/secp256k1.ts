// What signatures over secp256k1 take, in AssemblyScript: multiples of the curve's generator from a table, those of other
// points, nonces by RFC 6979, and inverses modulo the order. Not in constant time: the keys of a dev chain are no secrets.
import { copy, ELEMENT, invert, multiply, read, write } from './field'
import {
  AFFINE,
  addAffine,
  addAny,
  double,
  isNeutral,
  liftX,
  POINT,
  scale,
  setAffine,
  setNeutral,
  toAffine,
  Y,
  Z,
} from './points'
import { almostInvert } from './scalars'
import { hmac, MESSAGE } from './sha256'

/** 32 big-endian bytes each: what the caller gives, and what it gets. */
export const DIGEST: usize = memory.data(32, 8)
export const KEY: usize = memory.data(32, 8)
export const SCALAR: usize = memory.data(32, 8)
export const OTHER_SCALAR: usize = memory.data(32, 8)
export const RESULT_X: usize = memory.data(32, 8)
export const RESULT_Y: usize = memory.data(32, 8)

/** x and y of the generator, 32 big-endian bytes each. */
const GENERATOR: usize = memory.data<u8>([
  0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
  0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
  0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3, 0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08, 0xa8,
  0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c, 0x47, 0xd0, 0x8f, 0xfb, 0x10, 0xd4, 0xb8,
])

/** Bits of a scalar that one entry of the table stands for: with 8 the table is three times as large, and 5 µs are won. */
const WINDOW: usize = 6

/** Windows of 256 bits. */
const WINDOWS: usize = 43

/** Entries of a window: 1 to 63 times its base. */
const ENTRIES: usize = 63

/** Entry d of window i is d · 2^(6i) · G, less one, in 217 KB behind all static data (see `initialMemory`). */
const TABLE: usize = 65_536

/** Multiples of a point before they are made affine, 2 to 64 times; behind the base of one window more. */
const MULTIPLES: usize = TABLE + (WINDOWS * ENTRIES + 1) * AFFINE

/** For each of them the product of its Z and all before it. */
const PRODUCTS: usize = MULTIPLES + ENTRIES * POINT

/** 1 to 15 times the point of a signature. */
const OWN_MULTIPLES: usize = PRODUCTS + ENTRIES * ELEMENT

const BASE: usize = memory.data(80, 8)
const SUM: usize = memory.data(120, 8)
const ONE_OVER: usize = memory.data(40, 8)
const INVERSE: usize = memory.data(40, 8)

/** A scalar, its lowest byte first, with room to read beyond its end. */
const BITS: usize = memory.data(40, 8)

/** Fills the table: 2,700 points in 3 ms. To be called once, before everything else. */
export function initialize(): void {
  read(BASE, GENERATOR)
  read(BASE + Y, GENERATOR + 32)
  for (let i: usize = 0; i < WINDOWS; i++) {
    const entries = TABLE + i * ENTRIES * AFFINE
    // one more than there are entries: the base of the next window, which begins in its place
    writeMultiples(entries, BASE, ENTRIES + 1)
    memory.copy(BASE, entries + ENTRIES * AFFINE, AFFINE)
  }
}

/** Writes 1 to `count` times an affine point, all affine, with one inversion. */
function writeMultiples(target: usize, base: usize, count: usize): void {
  setAffine(MULTIPLES, base)
  double(MULTIPLES, MULTIPLES)
  copy(PRODUCTS, MULTIPLES + Z)
  const last = count - 2
  for (let i: usize = 1; i <= last; i++) {
    const point = MULTIPLES + i * POINT
    memory.copy(point, point - POINT, POINT)
    // never the same or opposite points: the order is a prime, and no multiple here is near it
    addAffine(point, base)
    multiply(PRODUCTS + i * ELEMENT, PRODUCTS + (i - 1) * ELEMENT, point + Z)
  }
  memory.copy(target, base, AFFINE)
  invert(ONE_OVER, PRODUCTS + last * ELEMENT)
  for (let i = last; i > 0; i--) {
    const point = MULTIPLES + i * POINT
    multiply(INVERSE, ONE_OVER, PRODUCTS + (i - 1) * ELEMENT)
    multiply(ONE_OVER, ONE_OVER, point + Z)
    scale(target + (i + 1) * AFFINE, point, INVERSE)
  }
  scale(target + AFFINE, MULTIPLES, ONE_OVER)
}

/** Writes x and y of SCALAR · G to RESULT_X and RESULT_Y; SCALAR is between 1 and the order less 1. */
export function multiplyGenerator(): void {
  setNeutral(SUM)
  addMultiple()
  writeSum()
}

/** Adds SCALAR · G to SUM, an entry of each window: 43 sums instead of 256 doublings. */
function addMultiple(): void {
  setBits(SCALAR)
  for (let i: usize = 0; i < WINDOWS; i++) {
    const digit = digitAt(i * WINDOW, 63)
    if (digit > 0) addAny(SUM, TABLE + (i * ENTRIES + digit - 1) * AFFINE)
  }
}

function writeSum(): void {
  toAffine(BASE, SUM)
  write(RESULT_X, BASE)
  write(RESULT_Y, BASE + Y)
}

function setBits(scalar: usize): void {
  for (let i: usize = 0; i < 32; i += 8) {
    store<u64>(BITS + i, bswap<u64>(load<u64>(scalar + 24 - i)))
  }
}

/** The bits of BITS from `bit` on that are set in the mask, at most 9. */
@inline
function digitAt(bit: usize, mask: usize): usize {
  return (<usize>load<u16>(BITS + (bit >> 3)) >> (bit & 7)) & mask
}

/**
 * Writes SCALAR · G + OTHER_SCALAR · R to RESULT_X and RESULT_Y, where RESULT_X before is the x of R, and R the one of the
 * two points with it whose y is odd or even.
 * @returns false where no point has this x, or the sum is the neutral one
 */
export function multiplyBoth(odd: bool): bool {
  read(BASE, RESULT_X)
  if (!liftX(BASE, odd)) return false
  writeMultiples(OWN_MULTIPLES, BASE, 15)
  setBits(OTHER_SCALAR)
  setNeutral(SUM)
  for (let bit: i32 = 252; bit >= 0; bit -= 4) {
    if (bit < 252) for (let i = 0; i < 4; i++) double(SUM, SUM)
    const digit = digitAt(bit, 15)
    if (digit > 0) addAny(SUM, OWN_MULTIPLES + (digit - 1) * AFFINE)
  }
  addMultiple()
  if (isNeutral(SUM)) return false
  writeSum()
  return true
}

const HMAC_KEY: usize = memory.data(32, 8)
const HMAC_VALUE: usize = memory.data(32, 8)

/** Writes the first nonce for KEY and DIGEST, which is below the order, to SCALAR (RFC 6979, 3.2, steps a to h). */
export function firstNonce(): void {
  memory.fill(HMAC_VALUE, 1, 32)
  memory.fill(HMAC_KEY, 0, 32)
  updateKey(0, true)
  updateKey(1, true)
  nonce()
}

/** Writes another one, where the last was no scalar or came to no signature. */
export function nextNonce(): void {
  updateKey(0, false)
  nonce()
}

/** Steps d and e, or f and g: without key and digest as after a nonce that was refused. */
function updateKey(separator: u8, withInputs: bool): void {
  memory.copy(MESSAGE, HMAC_VALUE, 32)
  store<u8>(MESSAGE + 32, separator)
  if (withInputs) {
    memory.copy(MESSAGE + 33, KEY, 32)
    memory.copy(MESSAGE + 65, DIGEST, 32)
  }
  hmac(HMAC_KEY, withInputs ? 97 : 33, HMAC_KEY)
  updateValue()
}

function updateValue(): void {
  memory.copy(MESSAGE, HMAC_VALUE, 32)
  hmac(HMAC_KEY, 32, HMAC_VALUE)
}

function nonce(): void {
  updateValue()
  memory.copy(SCALAR, HMAC_VALUE, 32)
}

/** Writes 2^k / SCALAR modulo the order to RESULT_X, and gives k. */
export function invertScalar(): i32 {
  return almostInvert(SCALAR, RESULT_X)
}
