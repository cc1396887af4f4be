// Points of the curve y² = x³ + 7, in AssemblyScript: in Jacobian coordinates (x = X / Z², y = Y / Z³), so that sums need
// no division; affine ones have no Z. Formulas: https://hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-0.html
import {
  add,
  copy,
  ELEMENT,
  invert,
  isOdd,
  isZero,
  multiply,
  normalize,
  setOne,
  square,
  squareRoot,
  subtract,
} from './field'

/** Bytes of an affine point, x and y. */
export const AFFINE: usize = 2 * ELEMENT

/** Bytes of a point: X, Y and Z; the neutral one has Z = 0. */
export const POINT: usize = 3 * ELEMENT

/** Where Y and Z are in a point. */
export const Y: usize = ELEMENT
export const Z: usize = 2 * ELEMENT

const A: usize = memory.data(40, 8)
const B: usize = memory.data(40, 8)
const C: usize = memory.data(40, 8)
const D: usize = memory.data(40, 8)
const E: usize = memory.data(40, 8)
const F: usize = memory.data(40, 8)

/** p = the affine point q. */
export function setAffine(p: usize, q: usize): void {
  memory.copy(p, q, AFFINE)
  setOne(p + Z)
}

export function setNeutral(p: usize): void {
  memory.fill(p, 0, POINT)
}

export function isNeutral(p: usize): bool {
  return isZeroHere(p + Z)
}

/**
 * Sets the y of an affine point whose x is there: the odd or the even one.
 * @returns false where no point has this x
 */
export function liftX(p: usize, odd: bool): bool {
  // C = x³ + 7
  square(C, p)
  multiply(C, C, p)
  setOne(A)
  add(B, A, A)
  add(B, B, A)
  add(B, B, B)
  add(B, B, A)
  add(C, C, B)
  squareRoot(p + Y, C)
  square(D, p + Y)
  subtract(D, D, C)
  if (!isZeroHere(D)) return false
  normalize(p + Y)
  if (isOdd(p + Y) == odd) return true
  memory.fill(A, 0, ELEMENT)
  subtract(p + Y, A, p + Y)
  normalize(p + Y)
  return true
}

/** p = p + q, where q is affine, whatever the points. */
export function addAny(p: usize, q: usize): void {
  if (isNeutral(p)) {
    setAffine(p, q)
    return
  }
  if (addAffine(p, q)) return
  // C is the difference of their y over the common denominator
  subtract(C, C, p + Y)
  if (isZeroHere(C)) double(p, p)
  else setNeutral(p)
}

/** r = 2p (dbl-2009-l); r may be p. The neutral point stays neutral; no point has y = 0. */
export function double(r: usize, p: usize): void {
  square(A, p)
  square(B, p + Y)
  square(C, B)
  // D = 2((X + B)² - A - C)
  add(D, p, B)
  square(D, D)
  subtract(D, D, A)
  subtract(D, D, C)
  add(D, D, D)
  // E = 3A, F = E²
  add(E, A, A)
  add(E, E, A)
  square(F, E)
  multiply(r + Z, p + Y, p + Z)
  add(r + Z, r + Z, r + Z)
  subtract(r, F, D)
  subtract(r, r, D)
  // Y = E(D - X) - 8C
  subtract(D, D, r)
  multiply(r + Y, E, D)
  add(C, C, C)
  subtract(r + Y, r + Y, C)
  subtract(r + Y, r + Y, C)
  subtract(r + Y, r + Y, C)
  subtract(r + Y, r + Y, C)
}

/**
 * p = p + q, where q is affine, in 8 multiplications and 3 squares.
 * @returns false, with p as it was, where they are the same or opposite points, for which these formulas do not hold
 */
export function addAffine(p: usize, q: usize): bool {
  square(A, p + Z)
  multiply(B, q, A) // x of q, over the common denominator
  multiply(C, q + Y, A)
  multiply(C, C, p + Z) // its y
  subtract(B, B, p)
  if (isZeroHere(B)) return false
  subtract(C, C, p + Y)
  multiply(p + Z, p + Z, B)
  square(A, B)
  multiply(B, A, B)
  multiply(A, p, A)
  // X = C² - B³ - 2V, with V = A as it is now
  square(D, C)
  subtract(D, D, B)
  subtract(D, D, A)
  subtract(p, D, A)
  // Y = C(V - X) - Y · B³
  subtract(A, A, p)
  multiply(A, C, A)
  multiply(B, p + Y, B)
  subtract(p + Y, A, B)
  return true
}

/** Affine x and y of p, normalized. */
export function toAffine(q: usize, p: usize): void {
  invert(A, p + Z)
  scale(q, p, A)
}

/** q = p, affine, where `inverse` is 1 / Z. */
export function scale(q: usize, p: usize, inverse: usize): void {
  square(B, inverse)
  multiply(C, B, inverse)
  multiply(q, p, B)
  multiply(q + Y, p + Y, C)
  normalize(q)
  normalize(q + Y)
}

/** Of an element of magnitude 1. */
function isZeroHere(a: usize): bool {
  copy(F, a)
  normalize(F)
  return isZero(F)
}
