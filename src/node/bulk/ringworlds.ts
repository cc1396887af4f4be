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
  readonly writes: SystemWrites
}

interface RingStorages {
  readonly time: Trie<StorageSlot>
  readonly hashes: Trie<StorageSlot>
}

/** Kept pairs of storages: one that shares nothing with another takes megabytes. */
const RECENT = 4

/**
 * The worlds after each of many blocks over one `base`. Accounts but those two are the base's; the storage of these is
 * made when it is read, from the nearest kept one before.
 */
export class RingWorlds {
  readonly #base: World
  readonly #blocks: RingBlocks
  readonly #recent = new Map<number, RingStorages>()

  constructor(base: World, blocks: RingBlocks) {
    this.#base = base
    this.#blocks = blocks
  }

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
    const before = Math.max(-1, ...[...this.#recent.keys()].filter((each) => each < index))
    const from = this.#recent.get(before) ?? this.#baseStorages()
    const storages = this.#after(from, before + 1, index)
    this.#recent.set(index, storages)
    if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.keys().next().value!)
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

function withSlots(
  storage: Trie<StorageSlot>,
  slots: ReadonlyMap<bigint, bigint>,
): Trie<StorageSlot> {
  return storage.withChanges([...slots].map(([slot, value]) => slotChange(slot, value)))
}
