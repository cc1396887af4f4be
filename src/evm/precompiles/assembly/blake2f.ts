// BLAKE2b's compression function (RFC 7693) with any number of rounds.

/** Addresses: state, message and counters as in the precompile's input, then working memory. */
const STATE: usize = 0
const MESSAGE: usize = 64
const COUNTERS: usize = 192
const WORK: usize = 208

/** The message word of each step: ten rounds of sixteen bytes. */
const SIGMA: usize = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
  11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
  7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
  9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
  2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
  12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
  13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
  6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
  10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
])

const IV: usize = memory.data<u64>([
  0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
])

// @ts-ignore: a decorator of AssemblyScript
@inline
function work(index: i32): usize {
  return WORK + (<usize>index << 3)
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function mix(a: i32, b: i32, c: i32, d: i32, x: u8, y: u8): void {
  let va = load<u64>(work(a))
  let vb = load<u64>(work(b))
  let vc = load<u64>(work(c))
  let vd = load<u64>(work(d))
  va = va + vb + load<u64>(MESSAGE + (<usize>x << 3))
  vd = rotr(vd ^ va, 32)
  vc += vd
  vb = rotr(vb ^ vc, 24)
  va = va + vb + load<u64>(MESSAGE + (<usize>y << 3))
  vd = rotr(vd ^ va, 16)
  vc += vd
  vb = rotr(vb ^ vc, 63)
  store<u64>(work(a), va)
  store<u64>(work(b), vb)
  store<u64>(work(c), vc)
  store<u64>(work(d), vd)
}

export function compress(rounds: u32, isLast: bool): void {
  memory.copy(WORK, STATE, 64)
  memory.copy(WORK + 64, IV, 64)
  store<u64>(work(12), load<u64>(work(12)) ^ load<u64>(COUNTERS))
  store<u64>(work(13), load<u64>(work(13)) ^ load<u64>(COUNTERS + 8))
  if (isLast) store<u64>(work(14), ~load<u64>(work(14)))
  let sigma = SIGMA
  for (let round: u32 = 0; round < rounds; round++) {
    mix(0, 4, 8, 12, load<u8>(sigma), load<u8>(sigma, 1))
    mix(1, 5, 9, 13, load<u8>(sigma, 2), load<u8>(sigma, 3))
    mix(2, 6, 10, 14, load<u8>(sigma, 4), load<u8>(sigma, 5))
    mix(3, 7, 11, 15, load<u8>(sigma, 6), load<u8>(sigma, 7))
    mix(0, 5, 10, 15, load<u8>(sigma, 8), load<u8>(sigma, 9))
    mix(1, 6, 11, 12, load<u8>(sigma, 10), load<u8>(sigma, 11))
    mix(2, 7, 8, 13, load<u8>(sigma, 12), load<u8>(sigma, 13))
    mix(3, 4, 9, 14, load<u8>(sigma, 14), load<u8>(sigma, 15))
    sigma += 16
    if (sigma === SIGMA + 160) sigma = SIGMA
  }
  for (let i = 0; i < 8; i++) {
    const at = STATE + (<usize>i << 3)
    store<u64>(at, load<u64>(at) ^ load<u64>(work(i)) ^ load<u64>(work(i + 8)))
  }
}
