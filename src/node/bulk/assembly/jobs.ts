// Keccak-256 of bytes that were hashed before and changed from some place on. It runs the jobs of two queues in pairs.
import {
  absorb,
  finish,
  permute,
  permuteAs,
  RATE,
  STATE,
  STATE_LENGTH,
} from '../../../core/crypto/assembly/keccak'

@unmanaged
export class Job {
  source: u32
  length: u32
  /** The first byte that changed since the last hash; 0 the first time. */
  from: u32
  /** Where the sponge state is kept after each whole block. If 0, it is not kept, and `from` is 0. */
  states: u32
  target: u32
}

const QUEUE_LENGTH: u32 = 256

/** Addresses of the jobs of each queue, four bytes each, one queue after the other; then the length of each queue. */
const QUEUES: usize = memory.data(2 * 1024, 16)
const COUNTS: usize = memory.data(8, 16)

/** Lane i of two states of the sponge, the first in the lower half, is at 16 i. */
const PAIR: usize = memory.data(400, 16)

const LAST: usize = memory.data(272, 16)

const LANES: i32 = 25

/** Queues a job (queue 0 or 1) for the next `run` at the latest. */
export function enqueue(queue: u32, job: Job): void {
  if (load<u32>(COUNTS + 4 * queue) == QUEUE_LENGTH) run()
  const count = load<u32>(COUNTS + 4 * queue)
  store<usize>(QUEUES + 4 * (QUEUE_LENGTH * queue + count), changetype<usize>(job))
  store<u32>(COUNTS + 4 * queue, count + 1)
}

/**
 * Runs all jobs, in order within a queue. While both queues have blocks, it permutes one of each at a time, in the two
 * halves of vectors: a queue's next job begins in the half that its last one leaves.
 */
export function run(): void {
  let first = QUEUES
  let second = QUEUES + 4 * QUEUE_LENGTH
  const firstEnd = first + 4 * load<u32>(COUNTS)
  const secondEnd = second + 4 * load<u32>(COUNTS, 4)
  let firstKnown: usize = 0
  let secondKnown: usize = 0
  if (first != firstEnd && second != secondEnd) {
    let one = load<Job>(first)
    let other = load<Job>(second)
    firstKnown = enter(one, 0)
    secondKnown = enter(other, 8)
    while (true) {
      absorbPair(blockOf(one, firstKnown, LAST), blockOf(other, secondKnown, LAST + RATE))
      permuteAs<v128>(PAIR)
      firstKnown += 1
      secondKnown += 1
      if (keep(one, firstKnown, 0)) {
        first += 4
        if (first == firstEnd) firstKnown = 0
        else {
          one = load<Job>(first)
          firstKnown = enter(one, 0)
        }
      }
      if (keep(other, secondKnown, 8)) {
        second += 4
        if (second == secondEnd) secondKnown = 0
        else {
          other = load<Job>(second)
          secondKnown = enter(other, 8)
        }
      }
      if (first == firstEnd || second == secondEnd) break
    }
    if (first != firstEnd) leave(STATE, 0, LANES)
    if (second != secondEnd) leave(STATE, 8, LANES)
  }
  if (first != firstEnd) hashAll(first, firstEnd, firstKnown)
  if (second != secondEnd) hashAll(second, secondEnd, secondKnown)
  store<u64>(COUNTS, 0)
}

/** Runs the remaining jobs of a queue. `known` blocks of the first job are already in the state. */
function hashAll(at: usize, end: usize, known: usize): void {
  hashRest(load<Job>(at), known)
  for (at += 4; at != end; at += 4) hashRest(load<Job>(at), 0)
}

function hashRest(job: Job, known: usize): void {
  if (known == 0) known = resume(job)
  const source = <usize>job.source
  const length = <usize>job.length
  let at = known * RATE
  let next = <usize>job.states + known * STATE_LENGTH
  while (length - at >= RATE) {
    absorb(source + at, RATE)
    permute()
    at += RATE
    if (job.states != 0) {
      memory.copy(next, STATE, STATE_LENGTH)
      next += STATE_LENGTH
    }
  }
  finish(source + at, length - at, job.target)
}

/** Restores the state that a job continues from; returns how many blocks are in it. */
function resume(job: Job): usize {
  const known = <usize>job.from / RATE
  if (known == 0) memory.fill(STATE, 0, STATE_LENGTH)
  else memory.copy(STATE, <usize>job.states + (known - 1) * STATE_LENGTH, STATE_LENGTH)
  return known
}

/** As `resume`, into one half of the pair. */
function enter(job: Job, half: usize): usize {
  const known = <usize>job.from / RATE
  const state = <usize>job.states + (known - 1) * STATE_LENGTH
  for (let lane: usize = 0; lane < 25; lane++) {
    store<u64>(PAIR + 16 * lane + half, known == 0 ? 0 : load<u64>(state + 8 * lane))
  }
  return known
}

/** Where the next block of a job is: in its input, or padded at `last`. */
function blockOf(job: Job, known: usize, last: usize): usize {
  const source = <usize>job.source + known * RATE
  const left = <usize>job.length - known * RATE
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

/** Stores one half: the state after a whole block, or the hash at the end. True when the job ended. */
function keep(job: Job, known: usize, half: usize): bool {
  if (known * RATE > <usize>job.length) {
    leave(job.target, half, 4)
    return true
  }
  if (job.states != 0) leave(<usize>job.states + (known - 1) * STATE_LENGTH, half, LANES)
  return false
}

@inline
function leave(target: usize, half: usize, lanes: i32): void {
  for (let lane: usize = 0; lane < <usize>lanes; lane++) {
    store<u64>(target + 8 * lane, load<u64>(PAIR + 16 * lane + half))
  }
}
