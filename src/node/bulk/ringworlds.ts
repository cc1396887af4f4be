// The worlds after blocks that wrote only to the system contracts, made when they are read.
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
import { parentHashAt, type RunContents } from '../mining/runrecords.ts'

interface RingStorages {
  readonly time: Trie<StorageSlot>
  readonly hashes: Trie<StorageSlot>
}

/** Kept pairs of storages: one that shares nothing with another takes megabytes. */
const RECENT = 4

/**
 * The worlds after each block. Only the two system contracts differ; their storage is made on read from the nearest
 * kept one before. Each block writes its parent's hash and its own timestamp.
 */
export class RingWorlds {
  readonly #run: RunContents
  readonly #writes: SystemWrites
  readonly #recent = new Map<number, RingStorages>()

  /** @param writes which of the two contracts is written to */
  constructor(run: RunContents, writes: SystemWrites) {
    this.#run = run
    this.#writes = writes
  }

  get #base(): World {
    return this.#run.template.parent.world
  }

  at(index: number): World {
    const writes = this.#writes
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

  #after({ time, hashes }: RingStorages, first: number, last: number): RingStorages {
    const [run, writes] = [this.#run, this.#writes]
    const number = run.template.parent.block.header.number + 1n
    const times = new Map<bigint, bigint>()
    const parents = new Map<bigint, bigint>()
    const ring = Number(RING)
    // backwards until the ring is full, so that the newest stays: timestamps may leave gaps
    for (let index = last; writes.time && index >= first && times.size < ring; index--) {
      const timestamp = run.timestampAt(index)
      const slot = beaconSlot(timestamp)
      if (!times.has(slot)) times.set(slot, timestamp)
    }
    for (let index = Math.max(first, last - ring + 1); writes.hash && index <= last; index++) {
      parents.set(historySlot(number + BigInt(index)), BigInt(parentHashAt(run, index)))
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
