// The worlds after blocks that wrote to the system contracts and did nothing else: made when they are looked at.
import type { Hash } from '../../core/hex.ts'
import { addressKey } from '../../state/keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { beaconSlot, historySlot, RING, slotChange } from '../../state/systemslots.ts'
import type { Trie, TrieChange } from '../../state/trie.ts'
import {
  type Account,
  accountAt,
  emptyStorage,
  type StorageSlot,
  type World,
  withAccounts,
} from '../../state/world.ts'
import type { SystemWrites } from '../mining/emptyblocks.ts'

/** The blocks, counted from 0. Each writes the parent's hash and its own timestamp; beacon roots are all zero. */
export interface RingBlocks {
  readonly numberAt: (index: number) => bigint
  readonly timestampAt: (index: number) => bigint
  readonly parentHashAt: (index: number) => Hash
  /** Which of the two contracts is written to. */
  readonly writes: SystemWrites
  /** Called with storages that were made, which may know none of their hashes. */
  readonly onMade: (index: number, storages: RingStorages) => void
}

/** The storage of both contracts after a block. */
export interface RingStorages {
  readonly time: Trie<StorageSlot>
  readonly hashes: Trie<StorageSlot>
}

/** Blocks from one kept pair of storages to the next: a pair that shares nothing with another takes megabytes. */
const STRIDE = 512

/** Kept pairs at strides. */
const CHECKPOINTS = 2

/** Kept pairs in between, which share most with one at a stride. */
const RECENT = 8

/**
 * The worlds after each of many blocks over one `base`. Accounts but those two are the base's; the storage of these is
 * made when it is read, from the nearest kept one before.
 */
export class RingWorlds {
  readonly #base: World
  readonly #blocks: RingBlocks
  readonly #checkpoints = new Map<number, RingStorages>()
  readonly #recent = new Map<number, RingStorages>()

  constructor(base: World, blocks: RingBlocks) {
    this.#base = base
    this.#blocks = blocks
  }

  /** All accounts after the block. */
  at(index: number): World {
    const { writes } = this.#blocks
    const changes: TrieChange<Account>[] = []
    if (writes.time) changes.push(this.#change(BEACON_ROOTS, () => this.#storagesAt(index).time))
    if (writes.hash)
      changes.push(this.#change(HISTORY_STORAGE, () => this.#storagesAt(index).hashes))
    return withAccounts(this.#base, changes)
  }

  #change({ address }: Predeploy, storage: () => Trie<StorageSlot>): TrieChange<Account> {
    const account = accountAt(this.#base, address)
    if (account === undefined) throw new Error(`no system contract at ${address}`)
    const value = {
      ...account,
      get storage() {
        return storage()
      },
    }
    return { key: addressKey(address), value }
  }

  #storagesAt(index: number): RingStorages {
    const known = this.#recent.get(index)
    if (known !== undefined) return known
    const stride = index - (index % STRIDE)
    const nearest = nearestBefore(this.#recent, index)
    const [before, from] =
      nearest !== undefined && nearest[0] >= stride
        ? nearest
        : ([stride, this.#checkpointAt(stride)] as const)
    const storages = this.#after(from, before + 1, index)
    this.#blocks.onMade(index, storages)
    keep(this.#recent, index, storages, RECENT)
    return storages
  }

  #checkpointAt(index: number): RingStorages {
    const known = this.#checkpoints.get(index)
    if (known !== undefined) return known
    const [before, from] = nearestBefore(this.#checkpoints, index) ?? [-1, this.#baseStorages()]
    const storages = this.#after(from, before + 1, index)
    keep(this.#checkpoints, index, storages, CHECKPOINTS)
    return storages
  }

  /** The storages after block `last`, given those before block `first`. */
  #after({ time, hashes }: RingStorages, first: number, last: number): RingStorages {
    const { numberAt, timestampAt, parentHashAt, writes } = this.#blocks
    const times = new Map<bigint, bigint>()
    const parents = new Map<bigint, bigint>()
    const ring = Number(RING)
    // backwards, as the newest stays, until the ring is full: timestamps may leave gaps
    for (let index = last; writes.time && index >= first && times.size < ring; index--) {
      const timestamp = timestampAt(index)
      const slot = beaconSlot(timestamp)
      if (!times.has(slot)) times.set(slot, timestamp)
      index = firstAt(timestamp, timestampAt, first, index)
    }
    for (let index = Math.max(first, last - ring + 1); writes.hash && index <= last; index++) {
      parents.set(historySlot(numberAt(index)), BigInt(parentHashAt(index)))
    }
    return {
      time: writes.time ? withSlots(time, times) : time,
      hashes: writes.hash ? withSlots(hashes, parents) : hashes,
    }
  }

  #baseStorages(): RingStorages {
    const storageAt = ({ address }: Predeploy): Trie<StorageSlot> =>
      accountAt(this.#base, address)?.storage ?? emptyStorage
    return { time: storageAt(BEACON_ROOTS), hashes: storageAt(HISTORY_STORAGE) }
  }
}

/** The first of the blocks from `first` to `index` with the time of the last one: times never go back. */
function firstAt(
  timestamp: bigint,
  timestampAt: (index: number) => bigint,
  first: number,
  index: number,
): number {
  // most blocks have a time of their own
  if (index === first || timestampAt(index - 1) !== timestamp) return index
  let [earlier, found] = [first - 1, index]
  while (found - earlier > 1) {
    const middle = earlier + Math.floor((found - earlier) / 2)
    if (timestampAt(middle) === timestamp) found = middle
    else earlier = middle
  }
  return found
}

function withSlots(
  storage: Trie<StorageSlot>,
  slots: ReadonlyMap<bigint, bigint>,
): Trie<StorageSlot> {
  return storage.withChanges([...slots].map(([slot, value]) => slotChange(slot, value)))
}

/** The entry with the highest key below `index`; undefined when there is none. */
function nearestBefore<V>(
  map: ReadonlyMap<number, V>,
  index: number,
): readonly [number, V] | undefined {
  let nearest: readonly [number, V] | undefined
  for (const entry of map) {
    if (entry[0] < index && entry[0] > (nearest?.[0] ?? -1)) nearest = entry
  }
  return nearest
}

/** Keeps a value as the newest of at most `limit`. */
function keep<V>(map: Map<number, V>, key: number, value: V, limit: number): void {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= limit) return
    map.delete(oldest)
  }
}
