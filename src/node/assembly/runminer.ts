// The inner loop of mining empty blocks: system contracts are told of a block in place, then state root, randomness and
// hash are made. In AssemblyScript, as what runminer.ts would do between two hashes took it a third of the time.
import { JOB_LENGTH, run } from '../../state/assembly/sponge'

export { run }

/** Slots of each of the two rings (EIP-2935, EIP-4788). */
const RING: u64 = 8191

/** What is mined, in addresses that runminer.ts writes. A path begins with where its value ends and where its jobs end. */
@unmanaged
class Order {
  /** The header's RLP, and where what differs from block to block is in it: hashes begin there, integers end there. */
  parentHash: u32
  stateRoot: u32
  numberEnd: u32
  timestampEnd: u32
  /** Parent's hash and number, which the randomness is made of. */
  seed: u32
  root: u32
  /** Jobs: of the accounts above those that are told, up to `jobsEnd`; of the randomness; of the header. */
  accounts: u32
  accountsEnd: u32
  randao: u32
  header: u32
  /** Paths of the slots of both rings; 0 for a ring that is not told. */
  timePaths: u32
  parentPaths: u32
  timestamps: u32
  /** Where the next block's hash and state root go. */
  hashes: u32
  roots: u32
}

/**
 * Mines at most `count` blocks, the first of which has a number, and the timestamps at `timestamps`. Ends before a block
 * that has no path, or whose parent's hash is a number of less than 32 bytes.
 * @returns how many were mined
 */
export function mine(order: Order, number: f64, count: i32): i32 {
  for (let i = 0; i < count; i++) {
    const timestamp = <u64>load<f64>(order.timestamps + 8 * i)
    const own = <u64>number + i
    let timePath: usize = 0
    let parentPath: usize = 0
    if (order.timePaths != 0) {
      timePath = load<u32>(order.timePaths + 4 * <usize>(timestamp % RING))
      if (timePath == 0) return i
    }
    if (order.parentPaths != 0) {
      parentPath = load<u32>(order.parentPaths + 4 * <usize>((own - 1) % RING))
      if (parentPath == 0 || load<u8>(order.seed) == 0) return i
    }
    if (timePath != 0) writeDigits(load<u32>(timePath), timestamp)
    if (parentPath != 0) copyWord(load<u32>(parentPath) - 32, order.seed)
    run(jobsOf(parentPath), endOf(parentPath), jobsOf(timePath), endOf(timePath))
    finishBlock(order, own, timestamp)
  }
  return count
}

/** Makes the next block, of which the system contracts were told. */
export function seal(order: Order, number: f64, timestamp: f64): void {
  finishBlock(order, <u64>number, <u64>timestamp)
}

function finishBlock(order: Order, number: u64, timestamp: u64): void {
  writeDigits(order.seed + 64, number)
  run(order.accounts, order.accountsEnd, order.randao, order.randao + JOB_LENGTH)
  copyWord(order.parentHash, order.seed)
  copyWord(order.stateRoot, order.root)
  writeDigits(order.numberEnd, number)
  writeDigits(order.timestampEnd, timestamp)
  run(order.header, order.header + JOB_LENGTH, 0, 0)
  copyWord(order.hashes, order.seed)
  copyWord(order.roots, order.root)
  order.hashes += 32
  order.roots += 32
}

@inline
function jobsOf(path: usize): usize {
  return path == 0 ? 0 : path + 8
}

@inline
function endOf(path: usize): usize {
  return path == 0 ? 0 : load<u32>(path, 4)
}

@inline
function copyWord(target: usize, source: usize): void {
  v128.store(target, v128.load(source))
  v128.store(target, v128.load(source, 16), 16)
}

/** Writes the big-endian bytes of an integer, so that they end before `end`. */
function writeDigits(end: usize, value: u64): void {
  for (let left = value; left != 0; left >>= 8) {
    end -= 1
    store<u8>(end, <u8>left)
  }
}
