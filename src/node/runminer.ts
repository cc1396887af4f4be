// Mines empty blocks one after another with real hashes, 8 µs each: what changes of a header and of the state from one to
// the next is changed in place. The slow twin is miner.ts, which makes the same blocks.
import { bigintFromBytes, bytesFromHex, ZERO_HASH } from '../core/hex.ts'
import { encodeRlp, rlpItemEnd } from '../core/rlp.ts'
import { encodeHeader } from '../protocol/block.ts'
import { Arena, type ArenaExports, JOB_LENGTH, type Job, type Queue } from '../state/arena.ts'
import { LiveRing } from '../state/livering.ts'
import { LiveTrie, ShortNodeError } from '../state/livetrie.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../state/predeploys.ts'
import { RingWorlds } from '../state/ringworlds.ts'
import { RING } from '../state/systemslots.ts'
import {
  type Account,
  accountAt,
  emptyStorage,
  type StorageSlot,
  stateRoot,
  type World,
} from '../state/world.ts'
import { type RunPlan, SealedRun } from './emptyrun.ts'
import { randaoSeed } from './randao.ts'
import { WASM } from './runminer.wasm.ts'

/** Which system contracts hear of each block. Both run the main network's code. */
export interface Told {
  readonly time: boolean
  readonly hash: boolean
}

interface Exports extends ArenaExports {
  readonly mine: (order: number, number: number, count: number) => number
  readonly seal: (order: number, number: number, timestamp: number) => void
}

const RING_SLOTS = Number(RING)

/** Bytes of the RLP of a hash that is a number without leading zeros. */
const HASH_RLP = 33

/** Blocks mined at once: half a millisecond. */
const MOST_AT_ONCE = 64

/** What the module is told: numbers of four bytes in this order (`Order` in assembly/runminer.ts). */
const ORDER = [
  ...(['parentHash', 'stateRoot', 'numberEnd', 'timestampEnd', 'seed', 'root'] as const),
  ...(['accounts', 'accountsEnd', 'randao', 'header', 'timePaths', 'parentPaths'] as const),
  ...(['timestamps', 'hashes', 'roots'] as const),
] as const

type Order = Partial<Record<(typeof ORDER)[number], number>>

/** Mines the blocks of a plan, from the first to at most the last. For one use. */
export class RunMiner {
  readonly #plan: RunPlan
  readonly #first: number
  readonly #arena = new Arena<Exports>(WASM)
  readonly #accounts: LiveTrie<Account>
  /** Slots of the ring of times behind which there is a beacon root. */
  readonly #rooted: ReadonlySet<number>
  /** Rings of those who are told the time and the parent's hash. */
  readonly #times: LiveRing | undefined
  readonly #parents: LiveRing | undefined
  readonly #header: number
  /** Bytes of the RLP of number and timestamp that the header is laid out for. */
  #sizes: readonly [number: number, timestamp: number] = [0, 0]
  /** What the randomness is made of: begins with the parent's hash. */
  readonly #seed: number
  readonly #seedLength: number
  readonly #root: number
  readonly #order: number
  readonly #timestamps: number
  readonly #hashes: number
  readonly #roots: number
  #mined = 0
  /** True when the tries know more than the blocks mined. */
  #isAhead = false

  constructor(plan: RunPlan, told: Told) {
    const { world, block } = plan.parent
    const arena = this.#arena
    this.#plan = plan
    this.#first = Number(block.header.number) + 1
    this.#rooted = rootedSlots(world)
    this.#accounts = new LiveTrie(arena, world.accounts)
    this.#root = this.#stored(bytesFromHex(stateRoot(world)))
    this.#times = told.time ? this.#ringOf(BEACON_ROOTS, 1) : undefined
    this.#parents = told.hash ? this.#ringOf(HISTORY_STORAGE, 0) : undefined
    const seed = randaoSeed(bytesFromHex(block.hash), 0n, plan.abandoned)
    this.#seed = this.#stored(seed)
    this.#seedLength = seed.length
    this.#header = arena.allocate(encodeHeader(block.header).length + 64)
    this.#timestamps = arena.allocate(8 * MOST_AT_ONCE)
    this.#hashes = arena.allocate(32 * plan.count)
    this.#roots = arena.allocate(32 * plan.count)
    this.#order = arena.allocate(4 * ORDER.length)
    this.#giveOrder()
  }

  get mined(): number {
    return this.#mined
  }

  /** Mines the next block or some of the next ones; false when the next is none that can be mined here. */
  mineNext(): boolean {
    const number = this.#first + this.#mined
    const timestamp = this.#timestampAt(this.#mined)
    if (timestamp === undefined) return false
    if (!this.#hasSizes(number, timestamp)) this.#layOut(number, timestamp)
    const count = this.#prepared(number)
    const mined = count === 0 ? 0 : this.#arena.exports.mine(this.#order, number, count)
    this.#mined += mined
    return mined > 0 || this.#mineOne(number, timestamp)
  }

  /** The run of the blocks mined so far, at least one, and the world after them. */
  finish(): { readonly run: SealedRun; readonly world: World } {
    const count = this.#mined
    const plan = { ...this.#plan, count }
    const first = plan.parent.block.header.number + 1n
    const { bytes } = this.#arena
    const roots = bytes.slice(this.#roots, this.#roots + 32 * count)
    const hashes = bytes.slice(this.#hashes, this.#hashes + 32 * count)
    const run: SealedRun = new SealedRun(plan, hashes, roots, (index) => worlds.at(index))
    const worlds = new RingWorlds(plan.parent.world, {
      numberAt: (index) => first + BigInt(index),
      timestampAt: plan.timestampAt,
      parentHashAt: (index) => (index === 0 ? plan.parent.block.hash : run.hashAt(index - 1)),
      tellsTime: this.#times !== undefined,
      tellsHash: this.#parents !== undefined,
    })
    const world = worlds.madeAt(count - 1)
    if (!this.#isAhead) this.#shareHashes(world)
    return { run, world }
  }

  /** Tells the world after the last block what was hashed here, which would take it 100 ms. */
  #shareHashes(world: World): void {
    if (this.#times === undefined && this.#parents === undefined) return
    this.#times?.shareHashes(world)
    this.#parents?.shareHashes(world)
    this.#accounts.shareHashes(world.accounts, this.#root)
  }

  /** How many of the next blocks are changes in place and nothing else; their timestamps are written for the module. */
  #prepared(number: number): number {
    const timestamps: number[] = []
    const most = Math.min(MOST_AT_ONCE, this.#plan.count - this.#mined)
    while (timestamps.length < most) {
      const own = number + timestamps.length
      const timestamp = this.#timestampAt(this.#mined + timestamps.length)
      if (timestamp === undefined || !this.#hasSizes(own, timestamp)) break
      if (this.#times?.hasPath(timestamp % RING_SLOTS, this.#sizes[1]) === false) break
      if (this.#parents?.hasPath((own - 1) % RING_SLOTS, HASH_RLP) === false) break
      timestamps.push(timestamp)
    }
    // made now: the memory may have grown under the paths
    new Float64Array(this.#arena.bytes.buffer, this.#timestamps).set(timestamps)
    return timestamps.length
  }

  /** Mines the next block where the tries get new leaves or other lengths; false as `mineNext`. */
  #mineOne(number: number, timestamp: number): boolean {
    const slot = timestamp % RING_SLOTS
    // the beacon root would have to be taken away
    if (this.#times !== undefined && this.#rooted.has(slot)) return false
    try {
      this.#times?.put(slot, encodeRlp(BigInt(timestamp)))
      const parentHash = this.#arena.bytes.subarray(this.#seed, this.#seed + 32)
      this.#parents?.put((number - 1) % RING_SLOTS, encodeRlp(bigintFromBytes(parentHash)))
    } catch (error) {
      if (!(error instanceof ShortNodeError)) throw error
      // the tries may have heard a part of it
      this.#isAhead = true
      return false
    }
    this.#arena.run()
    this.#arena.exports.seal(this.#order, number, timestamp)
    this.#mined += 1
    return true
  }

  /** Undefined when it is no number that can be counted with here. */
  #timestampAt(index: number): number | undefined {
    const timestamp = Number(this.#plan.timestampAt(index))
    return Number.isSafeInteger(timestamp) ? timestamp : undefined
  }

  #hasSizes(number: number, timestamp: number): boolean {
    return sizeOf(number) === this.#sizes[0] && sizeOf(timestamp) === this.#sizes[1]
  }

  /** Writes the header anew, for integers of the size of these. The hashes in it are written with each block. */
  #layOut(number: number, timestamp: number): void {
    const { header } = this.#plan.parent.block
    const encoded = encodeHeader({
      ...header,
      number: BigInt(number),
      timestamp: BigInt(timestamp),
      parentHash: ZERO_HASH,
      stateRoot: ZERO_HASH,
      mixHash: ZERO_HASH,
    })
    this.#arena.bytes.set(encoded, this.#header)
    this.#sizes = [sizeOf(number), sizeOf(timestamp)]
    const starts = itemStarts(encoded).map((start) => this.#header + start)
    this.#tell({
      parentHash: starts[0]! + 1,
      stateRoot: starts[3]! + 1,
      numberEnd: starts[9]!,
      timestampEnd: starts[12]!,
      randao: this.#jobs([hashing(this.#seed, this.#seedLength, starts[13]! + 1)]).first,
      // the hash is the next block's parent
      header: this.#jobs([hashing(this.#header, encoded.length, this.#seed)]).first,
    })
  }

  /** Tells the module what stays as it is. */
  #giveOrder(): void {
    const told = [this.#times, this.#parents].filter((ring) => ring !== undefined)
    const leaves = told.map(({ account }) => account)
    const trie = this.#accounts
    const root = this.#root
    if (leaves.length > 0) {
      // all above them is hashed once, so that later only what changed is
      for (const leaf of leaves) trie.put(leaf.key, trie.valueOf(leaf))
      trie.hash(0, root)
      this.#arena.run()
    }
    const above = this.#jobs(trie.jobsAbove(leaves, root))
    this.#tell({
      seed: this.#seed,
      root,
      accounts: above.first,
      accountsEnd: above.end,
      timePaths: this.#times?.paths ?? 0,
      parentPaths: this.#parents?.paths ?? 0,
      timestamps: this.#timestamps,
      hashes: this.#hashes,
      roots: this.#roots,
    })
  }

  #tell(part: Order): void {
    for (const [name, value] of Object.entries(part)) {
      this.#arena.words[this.#order / 4 + ORDER.indexOf(name as keyof Order)] = value
    }
  }

  #ringOf(contract: Predeploy, queue: Queue): LiveRing {
    const slots = accountAt(this.#plan.parent.world, contract.address)?.storage ?? emptyStorage
    const storage: LiveTrie<StorageSlot> = new LiveTrie(this.#arena, slots)
    return new LiveRing(
      this.#arena,
      { trie: this.#accounts, root: this.#root },
      { contract, storage, queue },
    )
  }

  /** Writes jobs where they stay. */
  #jobs(jobs: readonly Job[]): { readonly first: number; readonly end: number } {
    const first = this.#arena.allocate(JOB_LENGTH * jobs.length)
    return { first, end: this.#arena.writeJobs(first, jobs) }
  }

  #stored(bytes: Uint8Array): number {
    const at = this.#arena.allocate(bytes.length)
    this.#arena.bytes.set(bytes, at)
    return at
  }
}

function rootedSlots(world: World): ReadonlySet<number> {
  const slots = new Set<number>()
  for (const { slot } of accountAt(world, BEACON_ROOTS.address)?.storage.values() ?? []) {
    if (slot >= RING) slots.add(Number(slot - RING))
  }
  return slots
}

function hashing(source: number, length: number, target: number): Job {
  return { source, length, from: 0, states: 0, target }
}

/** Where each item of a list begins, and where the last one ends; a header is a list of more than 55 bytes. */
function itemStarts(list: Uint8Array): number[] {
  const starts = [list[0]! - 0xf7 + 1]
  while (starts.at(-1)! < list.length) starts.push(rlpItemEnd(list, starts.at(-1)!))
  return starts
}

/** Bytes of the RLP of an integer above zero. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1
  let size = 1
  for (let left = value; left > 0; left = Math.floor(left / 256)) size += 1
  return size
}
