// A compact run of empty blocks with real hashes; a block, and the world after it, is made when it is read.
import { type Hash, hashFromBytes } from '../../core/hex.ts'
import { dropOldest, memoize } from '../../core/lrucache.ts'
import { addressKey } from '../../state/keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { beaconSlot, historySlot, RING } from '../../state/systemslots.ts'
import type { TrieChange } from '../../state/trie.ts'
import { type Account, accountAt, type World, withAccounts, withSlots } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { HashIndex } from '../ledger/packing/hashindex.ts'
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
export class SealedRun implements RunContents {
  readonly template: RunTemplate
  readonly writes: SystemWrites
  readonly log: RunLog = new RunLog()
  /** Each block writes its own timestamp and its parent's hash. */
  readonly #rings: readonly RingStorage[]
  readonly #records = memoize(RECENT_RECORDS, (index: number) => this.newRecord(index))
  #byHash = HashIndex.none
  /** Blocks in the index, which is filled on lookup. */
  #known = 0

  constructor(template: RunTemplate, writes: SystemWrites) {
    this.template = template
    this.writes = writes
    const { world, block } = template.parent
    const first = block.header.number + 1n
    const times = new RingStorage(BEACON_ROOTS, world, (index) => {
      const timestamp = this.timestampAt(index)
      return [beaconSlot(timestamp), timestamp]
    })
    const parents = new RingStorage(HISTORY_STORAGE, world, (index) => [
      historySlot(first + BigInt(index)),
      BigInt(parentHashAt(this, index)),
    ])
    this.#rings = [...(writes.time ? [times] : []), ...(writes.hash ? [parents] : [])]
  }

  get count(): number {
    return this.log.length
  }

  hashAt(index: number): Hash {
    return hashFromBytes(this.log.hashAt(index))
  }

  indexOf(hash: Hash): number | undefined {
    const entries: number[] = []
    for (; this.#known < this.count; this.#known++) {
      entries.push(HashIndex.entryOf(this.log.hashAt(this.#known), this.#known))
    }
    if (entries.length > 0) this.#byHash = this.#byHash.with(entries)
    return this.#byHash.find(hash).find((index) => this.hashAt(index) === hash)
  }

  rootAt(index: number): Hash {
    return hashFromBytes(this.log.rootAt(index))
  }

  timestampAt(index: number): bigint {
    return this.log.timestampAt(index)
  }

  worldAt(index: number): World {
    const changes = this.#rings.map((ring) => ring.changeAt(index))
    return withAccounts(this.template.parent.world, changes)
  }

  recordAt(index: number): BlockRecord {
    return this.#records(index)
  }

  /** As `recordAt`, but the run does not cache it: the caller does. */
  newRecord(index: number): BlockRecord {
    return new RunRecord(this, index)
  }
}

/** Kept storages of a contract: one that shares nothing with another takes megabytes. */
const RECENT = 4

/** The storage of a system contract after each block, made on read from the nearest kept one before. */
class RingStorage {
  readonly #contract: Predeploy
  readonly #base: World
  readonly #writtenBy: (index: number) => readonly [slot: bigint, value: bigint]
  readonly #recent = new Map<number, Account['storage']>()

  constructor(
    contract: Predeploy,
    base: World,
    writtenBy: (index: number) => readonly [slot: bigint, value: bigint],
  ) {
    this.#contract = contract
    this.#base = base
    this.#writtenBy = writtenBy
  }

  changeAt(index: number): TrieChange<Account> {
    const storage = (): Account['storage'] => this.#at(index)
    const value = {
      ...this.#account,
      get storage() {
        return storage()
      },
    }
    return { key: addressKey(this.#contract.address), value }
  }

  get #account(): Account {
    const { address } = this.#contract
    const account = accountAt(this.#base, address)
    if (account === undefined) throw new Error(`no system contract at ${address}`)
    return account
  }

  #at(index: number): Account['storage'] {
    const known = this.#recent.get(index)
    if (known !== undefined) return known
    const before = Math.max(-1, ...[...this.#recent.keys()].filter((each) => each < index))
    const slots = new Map<bigint, bigint>()
    // backwards until the ring is full, so that the newest stays: timestamps may leave gaps
    for (let at = index; at > before && slots.size < RING; at--) {
      const [slot, value] = this.#writtenBy(at)
      if (!slots.has(slot)) slots.set(slot, value)
    }
    const storage = withSlots(this.#recent.get(before) ?? this.#account.storage, slots)
    this.#recent.set(index, storage)
    dropOldest(this.#recent, RECENT)
    return storage
  }
}
