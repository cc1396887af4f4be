// Shared by the precompiles of both curves: sums, the pairing check, invalid points.
import { type Curve, G1, G2, type Group, NoPoint, SCALAR_SIZE } from './mcl.ts'

const SCALAR = 32

/** The points are on the curve; EIP-2537 does not require them in the group. */
export function sumOfTwo(curve: Curve, group: Group, input: Uint8Array): Uint8Array {
  const width = curve.widthOf(group)
  return curve.with(2 * group.size, (at) => {
    curve.readPoint(group, at, input.subarray(0, width), false)
    curve.readPoint(group, at + group.size, input.subarray(width), false)
    curve.add(group, at, at, at + group.size)
    return curve.writePoint(group, at)
  })
}

/** Each point must be in the group; its scalar follows it. */
export function sumOfMultiples(curve: Curve, group: Group, input: Uint8Array): Uint8Array {
  const width = curve.widthOf(group)
  const count = input.length / (width + SCALAR)
  return curve.with(group.size + count * (group.size + SCALAR_SIZE), (at) => {
    const terms = at + group.size
    const scalars = terms + count * group.size
    for (let i = 0; i < count; i += 1) {
      const term = input.subarray(i * (width + SCALAR), (i + 1) * (width + SCALAR))
      curve.readPoint(group, terms + i * group.size, term.subarray(0, width), true)
      curve.readScalar(scalars + i * SCALAR_SIZE, term.subarray(width))
    }
    curve.multiplySum(group, at, terms, scalars, count)
    return curve.writePoint(group, at)
  })
}

export function isPairingOne(
  curve: Curve,
  count: number,
  read: (index: number, at: Readonly<Record<'g1' | 'g2', number>>) => void,
): boolean {
  return curve.with(Math.max(1, count) * (G1.size + G2.size), (firsts) => {
    const seconds = firsts + count * G1.size
    let used = 0
    for (let i = 0; i < count; i += 1) {
      const at = { g1: firsts + used * G1.size, g2: seconds + used * G2.size }
      read(i, at)
      // a pairing with infinity is one
      if (!curve.isZero(G1, at.g1) && !curve.isZero(G2, at.g2)) used += 1
    }
    return curve.isPairingOne(firsts, seconds, used)
  })
}

/** The input is pairs of G1 and G2 points; the result a word, 1 or 0. */
export function pairingResult(curve: Curve, input: Uint8Array): Uint8Array {
  const width = curve.widthOf(G1)
  const pair = width + curve.widthOf(G2)
  const result = new Uint8Array(32)
  const isOne = isPairingOne(curve, input.length / pair, (i, at) => {
    const points = input.subarray(i * pair, (i + 1) * pair)
    curve.readPoint(G1, at.g1, points.subarray(0, width), true)
    curve.readPoint(G2, at.g2, points.subarray(width), true)
  })
  result[31] = isOne ? 1 : 0
  return result
}

/** Undefined for an invalid point, which makes the precompile fail. */
export function ofPoints<T>(curve: Curve, work: (curve: Curve) => T): T | undefined {
  try {
    return work(curve)
  } catch (error) {
    if (error instanceof NoPoint) return undefined
    throw error
  }
}
