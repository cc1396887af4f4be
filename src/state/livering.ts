// The ring of slots of a system contract that hears of every block: its storage, and the contract's account, in place.
import { type Arena, JOB_LENGTH, type Queue } from './arena.ts'
import { addressKey, slotKey } from './keys.ts'
import type { LiveLeaf, LiveTrie } from './livetrie.ts'
import type { Predeploy } from './predeploys.ts'
import { RING } from './systemslots.ts'
import { type Account, accountAt, type StorageSlot, type World } from './world.ts'

/** Bytes at the end of an account's RLP that begin with its storage root: two hashes, and the header of the second. */
const STORAGE_ROOT = 65

const SLOTS = Number(RING)

/** Bytes of a path before its jobs: where the slot's value ends, and where its jobs end. */
const PATH_HEADER = 8

/** The accounts that rings belong to, and where their root is wanted. */
export interface RingAccounts {
  readonly trie: LiveTrie<Account>
  readonly root: number
}

/** A ring is put together with one queue, so that two of them are hashed in pairs. */
export class LiveRing {
  readonly #arena: Arena
  readonly #accounts: RingAccounts
  readonly #contract: Predeploy
  readonly #storage: LiveTrie<StorageSlot>
  readonly #queue: Queue
  /** Leaves of the slots. Undefined: not used yet. */
  readonly #leaves = new Array<LiveLeaf | undefined>(SLOTS).fill(undefined)
  /** The storage's layout when the paths were made. */
  #layout = 0
  /** The contract's account. */
  readonly account: LiveLeaf
  /** Where the address of each slot's path is, four bytes each; 0: it has none. */
  readonly paths: number

  constructor(
    arena: Arena,
    accounts: RingAccounts,
    {
      contract,
      storage,
      queue,
    }: { contract: Predeploy; storage: LiveTrie<StorageSlot>; queue: Queue },
  ) {
    this.#arena = arena
    this.#accounts = accounts
    this.#contract = contract
    this.#storage = storage
    this.#queue = queue
    this.account = accounts.trie.leafOf(addressKey(contract.address))!
    this.paths = arena.allocate(4 * SLOTS)
  }

  /**
   * True when the slot has a path, which is made where that can be: all that is to be hashed, up to the contract's
   * account, when its value is changed in place to another of `length` bytes.
   */
  hasPath(slot: number, length: number): boolean {
    if (this.#layout !== this.#storage.layout) this.#dropPaths()
    const at = this.paths / 4 + slot
    if (this.#arena.words[at] !== 0) return true
    const leaf = this.#leaves[slot]
    if (leaf === undefined || leaf.valueLength !== length) return false
    const path = this.#pathOf(leaf)
    this.#arena.words[at] = path
    return true
  }

  /** Sets a slot, and has all hashed up to the contract's account at the next `run`. */
  put(slot: number, value: Uint8Array): void {
    const key = slotKey(BigInt(slot))
    this.#storage.put(key, value)
    this.#leaves[slot] = this.#storage.leafOf(key)
    this.#storage.hash(this.#queue, this.#storageRoot)
    this.#arena.enqueue(this.#queue, this.#accounts.trie.jobOf(this.account, this.#accounts.root))
    // the value may be elsewhere now
    this.#arena.words[this.paths / 4 + slot] = 0
  }

  /** Tells the storage of the same contract in another world what was hashed here. */
  shareHashes(world: World): void {
    const { storage } = accountAt(world, this.#contract.address)!
    this.#storage.shareHashes(storage, this.#storageRoot)
  }

  get #storageRoot(): number {
    return this.account.at + this.account.length - STORAGE_ROOT
  }

  #pathOf(leaf: LiveLeaf): number {
    const jobs = [
      this.#storage.jobOf(leaf, this.#storageRoot),
      ...this.#storage.jobsAbove([leaf], this.#storageRoot),
      this.#accounts.trie.jobOf(this.account, this.#accounts.root),
    ]
    const path = this.#arena.allocate(PATH_HEADER + JOB_LENGTH * jobs.length)
    const end = this.#arena.writeJobs(path + PATH_HEADER, jobs)
    this.#arena.words.set([leaf.at + leaf.length, end], path / 4)
    return path
  }

  #dropPaths(): void {
    this.#arena.words.fill(0, this.paths / 4, this.paths / 4 + SLOTS)
    this.#layout = this.#storage.layout
  }
}
