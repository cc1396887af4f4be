// Compiles word operations inline where that is faster than a call of the instance.
import { type Emitter, type Limb, type Limbs, MAX_LIMB } from '../wasm/emitter.ts'
import { I64_EQZ } from '../wasm/instructions.ts'
import {
  and,
  isBelow,
  isKnown,
  isSame,
  isZero,
  minus,
  or,
  orAll,
  plus,
  shiftLeftBy,
  shiftRightBy,
  shiftRightSignedBy,
  times,
  timesHigh,
  xor,
} from '../wasm/limbs.ts'

const ZERO: Limbs = [0n, 0n, 0n, 0n]
const SIGN = 1n << 63n

export function addWords(emitter: Emitter, a: Limbs, b: Limbs): Limbs {
  const result: Limb[] = []
  let carry: Limb = 0n
  for (let i = 0; i < 4; i++) {
    const x = a[i] ?? 0n
    const y = b[i] ?? 0n
    const sum = plus(emitter, x, y)
    const whole = plus(emitter, sum, carry)
    result.push(whole)
    if (i === 3) break
    const first = carryOf(emitter, sum, x, y)
    carry = or(emitter, first, carryOf(emitter, whole, sum, carry))
  }
  return result as unknown as Limbs
}

function carryOf(emitter: Emitter, sum: Limb, x: Limb, y: Limb): Limb {
  if (x === 0n || y === 0n) return 0n
  if (isKnown(x) && isKnown(y)) return x + y > MAX_LIMB ? 1n : 0n
  return isBelow(emitter, sum, isKnown(x) ? y : x)
}

export function subWords(emitter: Emitter, a: Limbs, b: Limbs): Limbs {
  const result: Limb[] = []
  let borrow: Limb = 0n
  for (let i = 0; i < 4; i++) {
    const x = a[i] ?? 0n
    const y = b[i] ?? 0n
    const difference = minus(emitter, x, y)
    result.push(minus(emitter, difference, borrow))
    if (i === 3) break
    const first = isBelow(emitter, x, y)
    borrow = or(emitter, first, isBelow(emitter, difference, borrow))
  }
  return result as unknown as Limbs
}

/** With more partial products a helper is faster. */
const MOST_PRODUCTS = 4

/** Undefined if too long for inline code. */
export function mulWords(emitter: Emitter, a: Limbs, b: Limbs): Limbs | undefined {
  const products = a.flatMap((x, i) =>
    b.slice(0, 4 - i).flatMap((y, j) => (x === 0n || y === 0n ? [] : [{ x, y, at: i + j }])),
  )
  if (products.length > MOST_PRODUCTS) return undefined
  let sum: Limbs = ZERO
  for (const { x, y, at } of products) {
    const product: Limb[] = [...ZERO]
    product[at] = times(emitter, x, y)
    if (at < 3) product[at + 1] = timesHigh(emitter, x, y)
    sum = addWords(emitter, sum, product as unknown as Limbs)
  }
  return sum
}

export function mulShort(emitter: Emitter, a: Limb, b: Limb): Limbs {
  return [times(emitter, a, b), timesHigh(emitter, a, b), 0n, 0n]
}

export function isWordBelow(emitter: Emitter, a: Limbs, b: Limbs): Limb {
  let below: Limb = 0n
  for (let i = 0; i < 4; i++) {
    const x = a[i] ?? 0n
    const y = b[i] ?? 0n
    if (x === y) continue
    const here = isBelow(emitter, x, y)
    below = below === 0n ? here : or(emitter, here, and(emitter, isSame(emitter, x, y), below))
  }
  return below
}

export function isWordSignedBelow(emitter: Emitter, a: Limbs, b: Limbs): Limb {
  const lifted = ([x0, x1, x2, x3]: Limbs): Limbs => [x0, x1, x2, xor(emitter, x3, SIGN)]
  return isWordBelow(emitter, lifted(a), lifted(b))
}

export function isWordSame(emitter: Emitter, a: Limbs, b: Limbs): Limb {
  const differences = a.map((x, i) => xor(emitter, x, b[i] ?? 0n))
  return isZero(emitter, orAll(emitter, differences))
}

export function isWordZero(emitter: Emitter, a: Limbs): Limb {
  return isZero(emitter, orAll(emitter, a))
}

/** `bits` is below 256. */
export function shiftWordLeft(emitter: Emitter, a: Limbs, bits: number): Limbs {
  const limb = (i: number): Limb => {
    const from = i - (bits >> 6)
    const upper = shiftLeftBy(emitter, a[from] ?? 0n, bits & 63)
    if ((bits & 63) === 0) return upper
    return or(emitter, upper, shiftRightBy(emitter, a[from - 1] ?? 0n, 64 - (bits & 63)))
  }
  return [limb(0), limb(1), limb(2), limb(3)]
}

export function shiftWordRight(emitter: Emitter, a: Limbs, bits: number, fill: Limb = 0n): Limbs {
  const limb = (i: number): Limb => {
    const from = i + (bits >> 6)
    const lower = shiftRightBy(emitter, a[from] ?? fill, bits & 63)
    if ((bits & 63) === 0) return lower
    return or(emitter, lower, shiftLeftBy(emitter, a[from + 1] ?? fill, 64 - (bits & 63)))
  }
  return [limb(0), limb(1), limb(2), limb(3)]
}

export function shiftWordRightSigned(emitter: Emitter, a: Limbs, bits: number): Limbs {
  return shiftWordRight(emitter, a, bits, shiftRightSignedBy(emitter, a[3], 63))
}

/**
 * Compiles a branch: the code takes the first way if `decider` is 0.
 * @returns locals that both ways fill
 */
export function either(
  emitter: Emitter,
  decider: Limb,
  ifZero: () => Limbs,
  otherwise: () => Limbs,
): Limbs {
  if (isKnown(decider)) return decider === 0n ? ifZero() : otherwise()
  const first = emitter.newLocal()
  const result: Limbs = [first, emitter.newLocal(), emitter.newLocal(), emitter.newLocal()]
  const fill = (limbs: Limbs): void => {
    limbs.forEach((limb, i) => {
      emitter.limb(limb)
      emitter.set(first + i)
    })
  }
  emitter.get(decider)
  emitter.op(I64_EQZ)
  emitter.if()
  fill(ifZero())
  emitter.else()
  fill(otherwise())
  emitter.end()
  return result
}
