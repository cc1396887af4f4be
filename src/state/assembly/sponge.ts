// Keccak-256 of bytes that were hashed before and changed from some place on: what a trie that gets a new root after each
// change does all day. Jobs of two queues are done in pairs. Compiled by src/build/wasm.mjs.
import { absorb, finish, permute, RATE, STATE, STATE_LENGTH } from '../../core/assembly/keccak'
import { PAIR, permutePair } from './permutepair'

/**
 * A job is five numbers of four bytes: where the bytes are, how many, the first that changed since the last time, where
 * the state of the sponge is kept after each whole block (0: nowhere, and all have changed), and where the hash goes.
 */
export const JOB_LENGTH: usize = 20

/** The last block of each of two inputs, padded. */
const LAST: usize = memory.data(272, 16)

const LANES: i32 = 25

/**
 * Does the jobs of two queues. Those of a queue are done in their order; between the queues there is none. As long as
 * both have blocks, one of each is permuted at a time: a queue's next job begins in the half that its last one leaves.
 */
export function run(first: usize, firstEnd: usize, second: usize, secondEnd: usize): void {
  let firstKnown: usize = 0
  let secondKnown: usize = 0
  if (first != firstEnd && second != secondEnd) {
    firstKnown = enter(first, 0)
    secondKnown = enter(second, 8)
    while (true) {
      absorbPair(blockOf(first, firstKnown, LAST), blockOf(second, secondKnown, LAST + RATE))
      permutePair()
      firstKnown += 1
      secondKnown += 1
      if (keep(first, firstKnown, 0)) {
        first += JOB_LENGTH
        firstKnown = first == firstEnd ? 0 : enter(first, 0)
      }
      if (keep(second, secondKnown, 8)) {
        second += JOB_LENGTH
        secondKnown = second == secondEnd ? 0 : enter(second, 8)
      }
      if (first == firstEnd || second == secondEnd) break
    }
    if (first != firstEnd) leave(STATE, 0, LANES)
    if (second != secondEnd) leave(STATE, 8, LANES)
  }
  if (first != firstEnd) hashAll(first, firstEnd, firstKnown)
  if (second != secondEnd) hashAll(second, secondEnd, secondKnown)
}
/** Does the jobs that are left in a queue, so many blocks of the first of which are in the state already; 0 for none. */
function hashAll(first: usize, end: usize, known: usize): void {
  hashRest(first, known == 0 ? resume(first) : known)
  for (let job = first + JOB_LENGTH; job != end; job += JOB_LENGTH) hashRest(job, resume(job))
}

/** Makes the state that a job goes on from; returns how many blocks are in it. */
function resume(job: usize): usize {
  const known = <usize>load<u32>(job, 8) / RATE
  const states = <usize>load<u32>(job, 12)
  if (known == 0) memory.fill(STATE, 0, STATE_LENGTH)
  else memory.copy(STATE, states + (known - 1) * STATE_LENGTH, STATE_LENGTH)
  return known
}

function hashRest(job: usize, known: usize): void {
  const source = <usize>load<u32>(job)
  const length = <usize>load<u32>(job, 4)
  const states = <usize>load<u32>(job, 12)
  let at = known * RATE
  let next = states + known * STATE_LENGTH
  while (length - at >= RATE) {
    absorb(source + at, RATE)
    permute()
    at += RATE
    if (states != 0) {
      memory.copy(next, STATE, STATE_LENGTH)
      next += STATE_LENGTH
    }
  }
  finish(source + at, length - at, <usize>load<u32>(job, 16))
}

/** Puts the state that a job goes on from into one half of the pair; returns how many blocks are in it. */
function enter(job: usize, half: usize): usize {
  const known = <usize>load<u32>(job, 8) / RATE
  const state = <usize>load<u32>(job, 12) + (known - 1) * STATE_LENGTH
  for (let lane: usize = 0; lane < 25; lane++) {
    store<u64>(PAIR + 16 * lane + half, known == 0 ? 0 : load<u64>(state + 8 * lane))
  }
  return known
}

/** Where the next block of a job is: in its input, or padded at `last`. */
function blockOf(job: usize, known: usize, last: usize): usize {
  const source = <usize>load<u32>(job) + known * RATE
  const left = <usize>load<u32>(job, 4) - known * RATE
  if (left >= RATE) return source
  memory.fill(last, 0, RATE)
  memory.copy(last, source, left)
  store<u8>(last + left, 0x01)
  store<u8>(last + RATE - 1, load<u8>(last + RATE - 1) ^ 0x80)
  return last
}

@inline
function absorbPair(first: usize, second: usize): void {
  for (let i: usize = 0; i < RATE; i += 8) {
    const input = i64x2.replace_lane(v128.load64_zero(first + i), 1, load<u64>(second + i))
    v128.store(PAIR + 2 * i, v128.xor(v128.load(PAIR + 2 * i), input))
  }
}

/** Keeps what a job wants of one half: its state after a whole block, or its hash at the end. True when it ended. */
function keep(job: usize, known: usize, half: usize): bool {
  if (known * RATE > <usize>load<u32>(job, 4)) {
    leave(<usize>load<u32>(job, 16), half, 4)
    return true
  }
  const states = <usize>load<u32>(job, 12)
  if (states != 0) leave(states + (known - 1) * STATE_LENGTH, half, LANES)
  return false
}

@inline
function leave(target: usize, half: usize, lanes: i32): void {
  for (let lane: usize = 0; lane < <usize>lanes; lane++) {
    store<u64>(target + 8 * lane, load<u64>(PAIR + 16 * lane + half))
  }
}
