// Mines empty blocks one after another with real hashes, 8 µs each: what changes of a header and of the state from one to
// the next is changed in place. The slow twin is miner.ts, which makes the same blocks.
import { bytesFromHex, ZERO_HASH } from '../core/hex.ts'
import { rlpItemEnd } from '../core/rlp.ts'
import { encodeHeader } from '../protocol/block.ts'
import { Arena } from '../state/arena.ts'
import { addressKey, slotKey } from '../state/keys.ts'
import { type LiveLeaf, LiveTrie, ShortNodeError } from '../state/livetrie.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../state/predeploys.ts'
import { RingWorlds } from '../state/ringworlds.ts'
import { RING } from '../state/systemslots.ts'
import type { Trie } from '../state/trie.ts'
import {
  type Account,
  accountAt,
  emptyStorage,
  type StorageSlot,
  slotValue,
  stateRoot,
  type World,
} from '../state/world.ts'
import { type RunPlan, SealedRun } from './emptyrun.ts'
import { randaoSeed } from './randao.ts'

/** Which system contracts hear of each block. Both run the main network's code. */
export interface Told {
  readonly time: boolean
  readonly hash: boolean
}

/** Bytes at the end of an account's RLP that begin with its storage root: two hashes, and the header of the second. */
const STORAGE_ROOT = 65

const RING_SLOTS = Number(RING)

/** Where the varying fields of a header are in its RLP. */
interface Places {
  readonly length: number
  readonly parentHash: number
  readonly stateRoot: number
  readonly number: number
  readonly timestamp: number
  readonly mixHash: number
}

/** Mines the blocks of a plan, from the first to at most the last. For one use. */
export class RunMiner {
  readonly #plan: RunPlan
  readonly #told: Told
  readonly #first: number
  readonly #arena = new Arena()
  readonly #accounts: LiveTrie<Account>
  readonly #times: LiveTrie<StorageSlot>
  readonly #parents: LiveTrie<StorageSlot>
  readonly #beaconStorage: Trie<StorageSlot> | undefined
  /** Leaves of the slots of both rings. Undefined: not used yet. */
  readonly #timeLeaves = new Array<LiveLeaf | undefined>(RING_SLOTS).fill(undefined)
  readonly #parentLeaves = new Array<LiveLeaf | undefined>(RING_SLOTS).fill(undefined)
  readonly #beaconRoots: LiveLeaf | undefined
  readonly #historyStorage: LiveLeaf | undefined
  readonly #header: number
  #places: Places
  /** What the randomness is made of: begins with the parent's hash. */
  readonly #seed: number
  readonly #seedLength: number
  readonly #hash: number
  readonly #hashes: Uint8Array
  readonly #roots: Uint8Array
  readonly #scratch = Array.from({ length: 34 }, (_, length) => new Uint8Array(length))
  #mined = 0
  /** True when the tries know more than the blocks mined. */
  #isAhead = false

  constructor(plan: RunPlan, told: Told) {
    const { world, block } = plan.parent
    this.#plan = plan
    this.#told = told
    this.#first = Number(block.header.number) + 1
    const storageOf = ({ address }: Predeploy): Trie<StorageSlot> | undefined =>
      accountAt(world, address)?.storage
    this.#beaconStorage = storageOf(BEACON_ROOTS)
    this.#accounts = new LiveTrie(this.#arena, world.accounts)
    this.#times = new LiveTrie(this.#arena, this.#beaconStorage ?? emptyStorage)
    this.#parents = new LiveTrie(this.#arena, storageOf(HISTORY_STORAGE) ?? emptyStorage)
    this.#beaconRoots = this.#accounts.leafOf(addressKey(BEACON_ROOTS.address))
    this.#historyStorage = this.#accounts.leafOf(addressKey(HISTORY_STORAGE.address))
    const parentHash = bytesFromHex(block.hash)
    const seed = randaoSeed(parentHash, 0n, plan.abandoned)
    this.#seed = this.#stored(seed)
    this.#seedLength = seed.length
    this.#hash = this.#arena.allocate(32)
    this.#header = this.#arena.allocate(encodeHeader(block.header).length + 64)
    this.#places = this.#layOut(this.#first, Number(plan.timestampAt(0)))
    this.#arena.bytes.set(bytesFromHex(stateRoot(world)), this.#header + this.#places.stateRoot)
    this.#hashes = new Uint8Array(32 * plan.count)
    this.#roots = new Uint8Array(32 * plan.count)
  }

  get mined(): number {
    return this.#mined
  }

  /** Mines the next block; false when it is none that can be mined here. */
  mineNext(): boolean {
    const number = this.#first + this.#mined
    const timestamp = Number(this.#plan.timestampAt(this.#mined))
    if (!Number.isSafeInteger(timestamp) || !this.#tell(number, timestamp)) return false
    const arena = this.#arena
    const { bytes } = arena
    const seed = this.#seed
    if (sizeOf(number) !== sizeOf(number - 1) || !this.#hasSize(timestamp)) {
      this.#places = this.#layOut(number, timestamp)
    }
    const places = this.#places
    writeInteger(bytes, this.#header + places.number, number)
    writeInteger(bytes, this.#header + places.timestamp, timestamp)
    bytes.copyWithin(this.#header + places.parentHash, seed, seed + 32)
    const root = this.#header + places.stateRoot
    writePadded(bytes, seed + 32, number)
    arena.enqueue(1, seed, this.#seedLength, 0, 0, this.#header + places.mixHash)
    // the storage roots and the randomness first: the accounts and the header hold them
    arena.run()
    if (this.#told.time || this.#told.hash) this.#accounts.hash(0, root)
    arena.enqueue(0, this.#header, places.length, 0, 0, this.#hash)
    arena.run()
    bytes.copyWithin(seed, this.#hash, this.#hash + 32)
    this.#hashes.set(bytes.subarray(seed, seed + 32), 32 * this.#mined)
    this.#roots.set(bytes.subarray(root, root + 32), 32 * this.#mined)
    this.#mined += 1
    return true
  }

  /** The run of the blocks mined so far, at least one, and the world after them. */
  finish(): { readonly run: SealedRun; readonly world: World } {
    const count = this.#mined
    const plan = { ...this.#plan, count }
    const first = plan.parent.block.header.number + 1n
    const roots = this.#roots.slice(0, 32 * count)
    const hashes = this.#hashes.slice(0, 32 * count)
    const run: SealedRun = new SealedRun(plan, hashes, roots, (index) => worlds.at(index))
    const worlds = new RingWorlds(plan.parent.world, {
      numberAt: (index) => first + BigInt(index),
      timestampAt: plan.timestampAt,
      parentHashAt: (index) => (index === 0 ? plan.parent.block.hash : run.hashAt(index - 1)),
      tellsTime: this.#told.time,
      tellsHash: this.#told.hash,
    })
    const world = worlds.madeAt(count - 1)
    this.#shareHashes(world)
    return { run, world }
  }

  /** Tells the world after the last block what was hashed here, which would take it 100 ms. */
  #shareHashes(world: World): void {
    const { time, hash } = this.#told
    if (this.#isAhead || !(time || hash)) return
    const rootOf = (leaf: LiveLeaf | undefined): number => leaf!.at + leaf!.length - STORAGE_ROOT
    const storageOf = ({ address }: Predeploy): Trie<StorageSlot> =>
      accountAt(world, address)!.storage
    if (time) this.#times.shareHashes(storageOf(BEACON_ROOTS), rootOf(this.#beaconRoots))
    if (hash) this.#parents.shareHashes(storageOf(HISTORY_STORAGE), rootOf(this.#historyStorage))
    this.#accounts.shareHashes(world.accounts, this.#header + this.#places.stateRoot)
  }

  /** Writes what the system contracts hear; false when that is more than setting slots. */
  #tell(number: number, timestamp: number): boolean {
    const { time, hash } = this.#told
    const slot = timestamp % RING_SLOTS
    if (time && this.#timeLeaves[slot] === undefined && this.#hasBeaconRoot(slot)) return false
    try {
      if (time) {
        set(this.#times, this.#timeLeaves, slot, this.#rlpOfInteger(timestamp))
        this.#times.hash(1, this.#accounts.touch(this.#beaconRoots!) - STORAGE_ROOT)
      }
      if (hash) {
        set(this.#parents, this.#parentLeaves, (number - 1) % RING_SLOTS, this.#rlpOfParent())
        this.#parents.hash(0, this.#accounts.touch(this.#historyStorage!) - STORAGE_ROOT)
      }
    } catch (error) {
      if (!(error instanceof ShortNodeError)) throw error
      // the tries may have heard a part of it
      this.#isAhead = true
      return false
    }
    return true
  }

  /** True where a beacon root would have to be taken away from the slot behind. */
  #hasBeaconRoot(slot: number): boolean {
    return (
      this.#beaconStorage !== undefined &&
      slotValue(this.#beaconStorage, BigInt(slot) + RING) !== 0n
    )
  }

  /** The parent's hash as a number, which has no leading zeros. */
  #rlpOfParent(): Uint8Array {
    const { bytes } = this.#arena
    let from = this.#seed
    const end = from + 32
    while (bytes[from] === 0) from += 1
    const rlp = this.#scratch[end - from + 1]!
    rlp[0] = 0x80 + end - from
    for (let at = from; at < end; at++) rlp[at - from + 1] = bytes[at]!
    return rlp
  }

  #rlpOfInteger(value: number): Uint8Array {
    const rlp = this.#scratch[sizeOf(value)]!
    writeInteger(rlp, 0, value)
    return rlp
  }

  #hasSize(timestamp: number): boolean {
    const { timestamp: at } = this.#places
    const head = this.#arena.bytes[this.#header + at]!
    return sizeOf(timestamp) === (head < 0x80 ? 1 : head - 0x7f)
  }

  /** Writes the header anew, for integers of the size of these. The hashes in it are written later, but the root stays. */
  #layOut(number: number, timestamp: number): Places {
    const { header } = this.#plan.parent.block
    const encoded = encodeHeader({
      ...header,
      number: BigInt(number),
      timestamp: BigInt(timestamp),
      parentHash: ZERO_HASH,
      stateRoot: ZERO_HASH,
      mixHash: ZERO_HASH,
    })
    const starts = itemStarts(encoded)
    const stateRootAt = starts[3]! + 1
    const { bytes } = this.#arena
    const root = bytes.slice(this.#header + stateRootAt, this.#header + stateRootAt + 32)
    bytes.set(encoded, this.#header)
    bytes.set(root, this.#header + stateRootAt)
    return {
      length: encoded.length,
      parentHash: starts[0]! + 1,
      stateRoot: stateRootAt,
      number: starts[8]!,
      timestamp: starts[11]!,
      mixHash: starts[13]! + 1,
    }
  }

  #stored(bytes: Uint8Array): number {
    const at = this.#arena.allocate(bytes.length)
    this.#arena.bytes.set(bytes, at)
    return at
  }
}

/** Sets a slot of a ring, one that was set before without a search. */
function set(
  ring: LiveTrie<StorageSlot>,
  leaves: (LiveLeaf | undefined)[],
  slot: number,
  value: Uint8Array,
): void {
  const leaf = leaves[slot]
  if (leaf !== undefined && ring.change(leaf, value)) return
  const key = slotKey(BigInt(slot))
  ring.put(key, value)
  leaves[slot] = ring.leafOf(key)
}

/** Where each item of a list begins; a header is a list of more than 55 bytes. */
function itemStarts(list: Uint8Array): number[] {
  const starts: number[] = []
  for (let at = list[0]! - 0xf7 + 1; at < list.length; at = rlpItemEnd(list, at)) starts.push(at)
  return starts
}

/** Bytes of the RLP of an integer above zero. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1
  let size = 1
  for (let left = value; left > 0; left = Math.floor(left / 256)) size += 1
  return size
}

/** Writes the RLP of an integer above zero. */
function writeInteger(bytes: Uint8Array, at: number, value: number): void {
  const size = sizeOf(value)
  if (size > 1) bytes[at] = 0x80 + size - 1
  writeDigits(bytes, at + size, value)
}

/** Writes an integer as a word of 32 bytes, the first of which are zeros already. */
function writePadded(bytes: Uint8Array, at: number, value: number): void {
  writeDigits(bytes, at + 32, value)
}

/** Writes the big-endian bytes of an integer, so that they end before `end`. */
function writeDigits(bytes: Uint8Array, end: number, value: number): void {
  let at = end
  for (let left = value; left > 0; left = Math.floor(left / 256)) {
    at -= 1
    bytes[at] = left % 256
  }
}
