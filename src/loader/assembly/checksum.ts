// A checksum of 64 bits. Each step is a bijection of what was summed up before, and of the word that is added: damage within
// one word always changes the sums, other damage but for a chance of about 2^-64. The loop is short, so that V8 does not
// optimize it meanwhile: that would take longer than the whole.

const FACTOR: u64 = 0x9e3779b185ebca87

/** @param length of the bytes from 0 on; a multiple of 64 */
export function checksum(length: usize): u64 {
  let a = i64x2.splat(0)
  let b = a
  let c = a
  let d = a
  for (let at: usize = 0; at < length; at += 64) {
    a = added(a, at)
    b = added(b, at + 16)
    c = added(c, at + 32)
    d = added(d, at + 48)
  }
  return both(both(both(both(length, a), b), c), d)
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function added(sums: v128, at: usize): v128 {
  const next = i64x2.add(sums, v128.load(at))
  return v128.xor(next, i64x2.shr_u(next, 29))
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function both(sum: u64, sums: v128): u64 {
  return mixed(mixed(sum, i64x2.extract_lane(sums, 0)), i64x2.extract_lane(sums, 1))
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function mixed(sum: u64, word: u64): u64 {
  return rotl(sum ^ word, 29) * FACTOR
}
