// What the language offers for numbers only: minimum and maximum of bigints, and the bounds of the wire's integers.

export const MAX_UINT64: bigint = 2n ** 64n - 1n

export const MAX_UINT256: bigint = 2n ** 256n - 1n

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
