// Mines empty blocks: writes each to the system contracts' storage (live tries), then makes state root, randomness and
// hash. Compiled by src/build/wasm.mjs.
import { keccak } from '../../../core/crypto/assembly/keccak'
import { enqueue, Job, run } from './jobs'
import { allocate, hash, LiveTrie, overwrite, put } from './livetrie'

export { enqueue, run } from './jobs'
export { allocate, hash, put } from './livetrie'

/** Slots of each of the two rings (EIP-2935, EIP-4788). */
const RING: u64 = 8191

@unmanaged
class Ring extends LiveTrie {
  account: Job
  /** The leaf of each slot of the ring, four bytes each; 0 for none. */
  leaves: usize
}

@unmanaged
class Parameters {
  /** The header's RLP, and where its changing fields are: hashes begin there, integers end there. */
  parentHash: u32
  stateRoot: u32
  numberEnd: u32
  timestampEnd: u32
  /** Bytes of the RLP of the two integers. */
  numberLength: u32
  timestampLength: u32
  /** Parent's hash and number, the source of the randomness. */
  seed: u32
  root: u32
  randao: Job
  header: Job
  /** Addresses of the jobs that hash the trie nodes above those accounts, up to `aboveEnd`. */
  above: usize
  aboveEnd: usize
  /** The rings of timestamps and of parent hashes; 0 for one that is not written to. */
  times: usize
  parents: usize
  /** A byte for each slot of times: not 0 where the slot has a beacon root, which would have to be removed. */
  rooted: usize
  /** The blocks to mine, 72 bytes each (`ENTRY` of runlog.ts): a timestamp, then space for hash and state root. */
  blocks: usize
}

const VALUE: usize = memory.data(40, 16)

const WORD: usize = memory.data(32, 16)

/**
 * Mines at most `count` blocks from `number`. Stops before a block whose header has another length.
 * @returns how many were mined; -1 when no more can be mined
 */
export function mine(given: Parameters, number: f64, count: i32): i32 {
  for (let i = 0; i < count; i++) {
    const block = given.blocks + 72 * i
    const timestamp = <u64>load<f64>(block)
    const own = <u64>number + i
    if (sizeOf(own) != given.numberLength || sizeOf(timestamp) != given.timestampLength) return i
    if (given.times != 0) {
      const ring = changetype<Ring>(given.times)
      const slot = <u32>(timestamp % RING)
      if (load<u8>(given.rooted + slot) != 0) return i
      if (!writeTime(ring, slot, timestamp)) return -1
      hashRing(ring, 1)
    }
    if (given.parents != 0) {
      const ring = changetype<Ring>(given.parents)
      copyWord(WORD, given.seed)
      const length = writeValue()
      if (!fill(ring, <u32>((own - 1) % RING), VALUE, length)) return -1
      hashRing(ring, 0)
    }
    run()
    finishBlock(given, own, timestamp)
    copyWord(block + 8, given.seed)
    copyWord(block + 40, given.root)
  }
  return count
}

/** Sets a slot of a ring to an integer's RLP, before mining; false when it can't be kept here. */
export function fill(ring: Ring, slot: u32, value: usize, length: u32): bool {
  const place = ring.leaves + 4 * slot
  const known = load<usize>(place)
  if (known != 0 && overwrite(known, value, length)) return true
  const leaf = placeIn(ring, slot, value, length)
  store<usize>(place, leaf)
  return leaf != 0
}

function writeTime(ring: Ring, slot: u32, timestamp: u64): bool {
  memory.fill(WORD, 0, 24)
  store<u64>(WORD, bswap(timestamp), 24)
  return fill(ring, slot, VALUE, writeValue())
}

function hashRing(ring: Ring, queue: u32): void {
  hash(ring, queue)
  enqueue(queue, ring.account)
}

function placeIn(ring: Ring, slot: u32, value: usize, length: u32): usize {
  const key = allocate(32)
  store<u32>(key, bswap(slot), 28)
  keccak(key, 32, key)
  return put(ring, key, value, length)
}

/** Writes the RLP of the integer in `WORD`, which is not 0, to `VALUE`; returns its length. */
function writeValue(): u32 {
  let start: usize = 0
  while (load<u8>(WORD + start) == 0) start += 1
  const length = 32 - start
  if (length == 1 && load<u8>(WORD, 31) < 0x80) {
    store<u8>(VALUE, load<u8>(WORD, 31))
    return 1
  }
  store<u8>(VALUE, <u8>(0x80 + length))
  memory.copy(VALUE + 1, WORD + start, length)
  return <u32>(1 + length)
}

function finishBlock(given: Parameters, number: u64, timestamp: u64): void {
  for (let at = given.above; at != given.aboveEnd; at += 4) enqueue(0, load<Job>(at))
  writeDigits(given.seed + 64, number)
  enqueue(1, given.randao)
  run()
  copyWord(given.parentHash, given.seed)
  copyWord(given.stateRoot, given.root)
  writeDigits(given.numberEnd, number)
  writeDigits(given.timestampEnd, timestamp)
  enqueue(0, given.header)
  run()
}

@inline
function copyWord(target: usize, source: usize): void {
  v128.store(target, v128.load(source))
  v128.store(target, v128.load(source, 16), 16)
}

function sizeOf(value: u64): u32 {
  return value < 0x80 ? 1 : 1 + <u32>((71 - clz(value)) >> 3)
}

function writeDigits(end: usize, value: u64): void {
  for (let left = value; left != 0; left >>= 8) {
    end -= 1
    store<u8>(end, <u8>left)
  }
}
