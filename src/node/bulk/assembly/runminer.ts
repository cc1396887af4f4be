// Mines empty blocks: writes each to the system contracts' storage (live tries), then makes state root, randomness and
// hash. Compiled by src/build/wasm.mjs.
import { keccak } from '../../../core/crypto/assembly/keccak'
import { enqueue, Job, run } from './jobs'
import { allocate, hash, LiveTrie, overwrite, put } from './livetrie'
import { headerSize, integerSize, writeDigits, writeInteger, writeListHeader } from './rlp'

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
  /** From amsterdam on, else 0: where the hash of the access list begins in the header, and where the slot number ends. */
  accessHash: usize
  slotEnd: u32
  /** Bytes of the RLP of the slot number, and what it is more than the block's number, as two halves of 64 bits. */
  slotLength: u32
  aheadLow: u32
  aheadHigh: u32
  /** RLP of the accounts of the access list that come first, and are the same in each block. */
  listed: usize
  listedLength: u32
  /** Addresses of the contracts with the rings, 20 bytes each: parent hashes, then timestamps. */
  ringAddresses: usize
  /** The blocks to mine, 72 bytes each (`ENTRY` of runlog.ts): a timestamp, then space for hash and state root. */
  blocks: usize
}

const VALUE: usize = memory.data(40, 16)

const WORD: usize = memory.data(32, 16)

/** The RLP of an access list; its own header ends at `LIST_BODY`. */
const LIST: usize = memory.data(1024, 16)
const LIST_BODY: usize = LIST + 4

/**
 * Mines at most `count` blocks from `number`. Stops before a block whose header has another length.
 * @returns how many were mined; -1 when no more can be mined
 */
export function mine(given: Parameters, number: f64, count: i32): i32 {
  for (let i = 0; i < count; i++) {
    const block = given.blocks + 72 * i
    const timestamp = <u64>load<f64>(block)
    const own = <u64>number + i
    if (integerSize(own) != given.numberLength || integerSize(timestamp) != given.timestampLength) return i
    if (given.accessHash != 0 && integerSize(slotOf(given, own)) != given.slotLength) return i
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
      if (given.accessHash != 0) hashList(given, <u32>((own - 1) % RING), length, timestamp)
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
  if (given.accessHash != 0) writeDigits(given.slotEnd, slotOf(given, number))
  enqueue(0, given.header)
  run()
}

@inline
function slotOf(given: Parameters, number: u64): u64 {
  return number + ((<u64>given.aheadHigh << 32) | <u64>given.aheadLow)
}

/**
 * Hashes the access list of a block that is like all others but for what it writes to the rings (EIP-7928).
 * @param slot of the parent's hash, whose RLP of `length` bytes is in `VALUE`
 */
function hashList(given: Parameters, slot: u32, length: u32, timestamp: u64): void {
  memory.copy(LIST_BODY, given.listed, given.listedLength)
  let at = LIST_BODY + given.listedLength
  at = beginAccount(at, given.ringAddresses, slot, length, 0)
  memory.copy(at, VALUE, length)
  // nothing is read
  at = endAccount(at + length, 4)
  const timeSlot = <u32>(timestamp % RING)
  const size = integerSize(timestamp)
  at = beginAccount(at, given.ringAddresses + 20, timeSlot, size, integerSize(timeSlot + RING))
  at = writeInteger(at, timestamp)
  // the root of this time is none, and stays so
  at = writeListHeader(at, integerSize(timeSlot + RING))
  at = endAccount(writeInteger(at, timeSlot + RING), 3)
  const whole = <u32>(at - LIST_BODY)
  const start = LIST_BODY - headerSize(whole)
  writeListHeader(start, whole)
  keccak(start, <u32>(at - start), given.accessHash)
}

/** Up to the value that a slot has after the block begins. `more`: bytes in the list of slots that are only read. */
function beginAccount(at: usize, address: usize, slot: u32, length: u32, more: u32): usize {
  const change = 1 + length
  const changes = 1 + change
  const entry = integerSize(slot) + 1 + changes
  const entries = 1 + entry
  // address, changes of slots, slots that are read, three empty lists
  at = writeListHeader(at, 21 + 1 + entries + 1 + more + 3)
  store<u8>(at, 0x94)
  memory.copy(at + 1, address, 20)
  at = writeListHeader(at + 21, entries)
  at = writeInteger(writeListHeader(at, entry), slot)
  at = writeListHeader(writeListHeader(at, changes), change)
  // the index of what is before all transactions
  return writeInteger(at, 0)
}

function endAccount(at: usize, emptyLists: u32): usize {
  memory.fill(at, 0xc0, emptyLists)
  return at + emptyLists
}

@inline
function copyWord(target: usize, source: usize): void {
  v128.store(target, v128.load(source))
  v128.store(target, v128.load(source, 16), 16)
}
