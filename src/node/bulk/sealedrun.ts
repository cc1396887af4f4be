// A compact run of empty blocks with real hashes; a block, and the world after it, is made when it is read.
import { bytesFromHex, equalBytes, type Hash, hashFromBytes } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import { addressKey } from '../../state/keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { beaconSlot, historySlot, RING } from '../../state/systemslots.ts'
import type { Trie, TrieChange } from '../../state/trie.ts'
import {
  type Account,
  accountAt,
  emptyStorage,
  type StorageSlot,
  type World,
  withAccounts,
  withSlots,
} from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { BlockRun } from '../ledger/blockrun.ts'
import type { SystemWrites } from '../mining/emptyblocks.ts'
import {
  parentHashAt,
  RECENT_RECORDS,
  type RunContents,
  RunRecord,
  type RunTemplate,
} from '../mining/runrecords.ts'
import { RunLog } from './runlog.ts'

/** A growing run. Existing blocks never change. */
export class SealedRun implements BlockRun, RunContents {
  readonly template: RunTemplate
  readonly writes: SystemWrites
  readonly log: RunLog = new RunLog()
  readonly #worlds: RingWorlds
  readonly #records = memoize(RECENT_RECORDS, (index: number) => this.newRecord(index))
  /** Open addressing by the first four bytes of a hash: indexes counted from 1, 0 for nothing. */
  #table = new Uint32Array(0)
  /** Blocks in the table, which is filled on lookup. */
  #known = 0

  constructor(template: RunTemplate, writes: SystemWrites) {
    this.template = template
    this.writes = writes
    this.#worlds = new RingWorlds(this, writes)
  }

  get count(): number {
    return this.log.length
  }

  hashAt(index: number): Hash {
    return hashFromBytes(this.log.hashAt(index))
  }

  indexOf(hash: Hash): number | undefined {
    this.#fillTable()
    const wanted = bytesFromHex(hash)
    const mask = this.#table.length - 1
    for (let at = prefixOf(wanted) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at]!
      if (entry === 0) return undefined
      if (equalBytes(this.log.hashAt(entry - 1), wanted)) return entry - 1
    }
  }

  rootAt(index: number): Hash {
    return hashFromBytes(this.log.rootAt(index))
  }

  timestampAt(index: number): bigint {
    return this.log.timestampAt(index)
  }

  worldAt(index: number): World {
    return this.#worlds.at(index)
  }

  recordAt(index: number): BlockRecord {
    return this.#records(index)
  }

  /** As `recordAt`, but the run does not cache it: the caller does. */
  newRecord(index: number): BlockRecord {
    return new RunRecord(this, index)
  }

  #fillTable(): void {
    const { length } = this.log
    if (2 * length >= this.#table.length) {
      this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * length + 1)))
      this.#known = 0
    }
    const mask = this.#table.length - 1
    for (; this.#known < length; this.#known++) {
      let at = prefixOf(this.log.hashAt(this.#known)) & mask
      while (this.#table[at] !== 0) at = (at + 1) & mask
      this.#table[at] = this.#known + 1
    }
  }
}

function prefixOf(hash: Uint8Array): number {
  return (hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!
}

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
class RingWorlds {
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
      time: withSlots(time, times),
      hashes: withSlots(hashes, parents),
    }
  }

  #baseStorages(): RingStorages {
    const storageAt = ({ address }: Predeploy): Trie<StorageSlot> =>
      accountAt(this.#base, address)?.storage ?? emptyStorage
    return { time: storageAt(BEACON_ROOTS), hashes: storageAt(HISTORY_STORAGE) }
  }
}
