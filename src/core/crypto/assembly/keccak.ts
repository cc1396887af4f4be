// Keccak-256 over linear memory, in AssemblyScript. src/build/wasm.mjs compiles it alone and as a part of the EVM engine.

export const STATE_LENGTH: usize = 200

/** Bytes that one permutation absorbs (the rate, for 256 bits of output). */
export const RATE: usize = 136

/** One constant for each of the 24 rounds (FIPS 202, §3.2.5). */
export const ROUND_CONSTANTS: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
])

export const STATE: usize = memory.data(200, 16)

/** The input and the 32 bytes of output may overlap. */
export function keccak(source: usize, length: usize, target: usize): void {
  memory.fill(STATE, 0, STATE_LENGTH)
  while (length >= RATE) {
    absorb(source, RATE)
    permute()
    source += RATE
    length -= RATE
  }
  finish(source, length, target)
}

export function finish(source: usize, length: usize, target: usize): void {
  const whole = length & ~7
  absorb(source, whole)
  for (let i: usize = whole; i < length; i++) {
    store<u8>(STATE + i, load<u8>(STATE + i) ^ load<u8>(source + i))
  }
  // the padding of original Keccak, before SHA-3: 1, zeros, 1
  store<u8>(STATE + length, load<u8>(STATE + length) ^ 0x01)
  store<u8>(STATE + RATE - 1, load<u8>(STATE + RATE - 1) ^ 0x80)
  permute()
  memory.copy(target, STATE, 32)
}

@inline
export function absorb(source: usize, length: usize): void {
  for (let i: usize = 0; i < length; i += 8) {
    store<u64>(STATE + i, load<u64>(STATE + i) ^ load<u64>(source + i))
  }
}

export function permute(): void {
  permuteAs<u64>(STATE)
}

@inline
function xor<T>(a: T, b: T): T {
  if (isVector<T>()) return v128.xor(a, b)
  return a ^ b
}

@inline
function rotate<T>(a: T, bits: i32): T {
  if (isVector<T>()) return v128.or(i64x2.shl(a, bits), i64x2.shr_u(a, 64 - bits))
  return rotl<T>(a, bits as T)
}

@inline
function chi<T>(a: T, b: T, c: T): T {
  if (isVector<T>()) return v128.xor(a, v128.andnot(c, b))
  return a ^ (~b & c)
}

@inline
function constantAt<T>(round: usize): T {
  if (isVector<T>()) return v128.load_splat<u64>(ROUND_CONSTANTS + round)
  return load<T>(ROUND_CONSTANTS + round)
}

/**
 * The 24 rounds on one state (u64 lanes), or on two at once (v128), which takes two thirds of the time. The lanes are locals in
 * a loop: unrolled rounds are slower. `aN` is lane x + 5y, `cN` a column's parity, `dN` what θ adds to it, `bN` the lane after
 * ρ and π.
 */
export function permuteAs<T>(state: usize): void {
  let a0 = load<T>(state, 0 * sizeof<T>())
  let a1 = load<T>(state, 1 * sizeof<T>())
  let a2 = load<T>(state, 2 * sizeof<T>())
  let a3 = load<T>(state, 3 * sizeof<T>())
  let a4 = load<T>(state, 4 * sizeof<T>())
  let a5 = load<T>(state, 5 * sizeof<T>())
  let a6 = load<T>(state, 6 * sizeof<T>())
  let a7 = load<T>(state, 7 * sizeof<T>())
  let a8 = load<T>(state, 8 * sizeof<T>())
  let a9 = load<T>(state, 9 * sizeof<T>())
  let a10 = load<T>(state, 10 * sizeof<T>())
  let a11 = load<T>(state, 11 * sizeof<T>())
  let a12 = load<T>(state, 12 * sizeof<T>())
  let a13 = load<T>(state, 13 * sizeof<T>())
  let a14 = load<T>(state, 14 * sizeof<T>())
  let a15 = load<T>(state, 15 * sizeof<T>())
  let a16 = load<T>(state, 16 * sizeof<T>())
  let a17 = load<T>(state, 17 * sizeof<T>())
  let a18 = load<T>(state, 18 * sizeof<T>())
  let a19 = load<T>(state, 19 * sizeof<T>())
  let a20 = load<T>(state, 20 * sizeof<T>())
  let a21 = load<T>(state, 21 * sizeof<T>())
  let a22 = load<T>(state, 22 * sizeof<T>())
  let a23 = load<T>(state, 23 * sizeof<T>())
  let a24 = load<T>(state, 24 * sizeof<T>())
  for (let round: usize = 0; round < 192; round += 8) {
    const c0 = xor(xor(xor(xor(a0, a5), a10), a15), a20)
    const c1 = xor(xor(xor(xor(a1, a6), a11), a16), a21)
    const c2 = xor(xor(xor(xor(a2, a7), a12), a17), a22)
    const c3 = xor(xor(xor(xor(a3, a8), a13), a18), a23)
    const c4 = xor(xor(xor(xor(a4, a9), a14), a19), a24)
    const d0 = xor(c4, rotate(c1, 1))
    const d1 = xor(c0, rotate(c2, 1))
    const d2 = xor(c1, rotate(c3, 1))
    const d3 = xor(c2, rotate(c4, 1))
    const d4 = xor(c3, rotate(c0, 1))
    const b0 = xor(a0, d0)
    const b16 = rotate(xor(a5, d0), 36)
    const b7 = rotate(xor(a10, d0), 3)
    const b23 = rotate(xor(a15, d0), 41)
    const b14 = rotate(xor(a20, d0), 18)
    const b10 = rotate(xor(a1, d1), 1)
    const b1 = rotate(xor(a6, d1), 44)
    const b17 = rotate(xor(a11, d1), 10)
    const b8 = rotate(xor(a16, d1), 45)
    const b24 = rotate(xor(a21, d1), 2)
    const b20 = rotate(xor(a2, d2), 62)
    const b11 = rotate(xor(a7, d2), 6)
    const b2 = rotate(xor(a12, d2), 43)
    const b18 = rotate(xor(a17, d2), 15)
    const b9 = rotate(xor(a22, d2), 61)
    const b5 = rotate(xor(a3, d3), 28)
    const b21 = rotate(xor(a8, d3), 55)
    const b12 = rotate(xor(a13, d3), 25)
    const b3 = rotate(xor(a18, d3), 21)
    const b19 = rotate(xor(a23, d3), 56)
    const b15 = rotate(xor(a4, d4), 27)
    const b6 = rotate(xor(a9, d4), 20)
    const b22 = rotate(xor(a14, d4), 39)
    const b13 = rotate(xor(a19, d4), 8)
    const b4 = rotate(xor(a24, d4), 14)
    a0 = chi(b0, b1, b2)
    a1 = chi(b1, b2, b3)
    a2 = chi(b2, b3, b4)
    a3 = chi(b3, b4, b0)
    a4 = chi(b4, b0, b1)
    a5 = chi(b5, b6, b7)
    a6 = chi(b6, b7, b8)
    a7 = chi(b7, b8, b9)
    a8 = chi(b8, b9, b5)
    a9 = chi(b9, b5, b6)
    a10 = chi(b10, b11, b12)
    a11 = chi(b11, b12, b13)
    a12 = chi(b12, b13, b14)
    a13 = chi(b13, b14, b10)
    a14 = chi(b14, b10, b11)
    a15 = chi(b15, b16, b17)
    a16 = chi(b16, b17, b18)
    a17 = chi(b17, b18, b19)
    a18 = chi(b18, b19, b15)
    a19 = chi(b19, b15, b16)
    a20 = chi(b20, b21, b22)
    a21 = chi(b21, b22, b23)
    a22 = chi(b22, b23, b24)
    a23 = chi(b23, b24, b20)
    a24 = chi(b24, b20, b21)
    a0 = xor(a0, constantAt<T>(round))
  }
  store<T>(state, a0, 0 * sizeof<T>())
  store<T>(state, a1, 1 * sizeof<T>())
  store<T>(state, a2, 2 * sizeof<T>())
  store<T>(state, a3, 3 * sizeof<T>())
  store<T>(state, a4, 4 * sizeof<T>())
  store<T>(state, a5, 5 * sizeof<T>())
  store<T>(state, a6, 6 * sizeof<T>())
  store<T>(state, a7, 7 * sizeof<T>())
  store<T>(state, a8, 8 * sizeof<T>())
  store<T>(state, a9, 9 * sizeof<T>())
  store<T>(state, a10, 10 * sizeof<T>())
  store<T>(state, a11, 11 * sizeof<T>())
  store<T>(state, a12, 12 * sizeof<T>())
  store<T>(state, a13, 13 * sizeof<T>())
  store<T>(state, a14, 14 * sizeof<T>())
  store<T>(state, a15, 15 * sizeof<T>())
  store<T>(state, a16, 16 * sizeof<T>())
  store<T>(state, a17, 17 * sizeof<T>())
  store<T>(state, a18, 18 * sizeof<T>())
  store<T>(state, a19, 19 * sizeof<T>())
  store<T>(state, a20, 20 * sizeof<T>())
  store<T>(state, a21, 21 * sizeof<T>())
  store<T>(state, a22, 22 * sizeof<T>())
  store<T>(state, a23, 23 * sizeof<T>())
  store<T>(state, a24, 24 * sizeof<T>())
}
