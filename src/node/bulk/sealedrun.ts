// A compact run of empty blocks with real hashes; a block is made when it is read.

import { bytesFromHex, equalBytes, type Hash, hashFromBytes } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { BlockRun } from '../ledger/blockrun.ts'
import type { SystemWrites } from '../mining/emptyblocks.ts'
import {
  RECENT_RECORDS,
  type RunContents,
  RunRecord,
  type RunTemplate,
} from '../mining/runrecords.ts'
import { RingWorlds } from './ringworlds.ts'
import { RunLog } from './runlog.ts'

/** A growing run. Existing blocks never change. */
export class SealedRun implements BlockRun, RunContents {
  readonly template: RunTemplate
  readonly log: RunLog = new RunLog()
  readonly #worlds: RingWorlds
  readonly #records = memoize(RECENT_RECORDS, (index: number) => this.newRecord(index))
  /** Open addressing by the first four bytes of a hash: indexes counted from 1, 0 for nothing. */
  #table = new Uint32Array(0)
  /** Blocks in the table, which is filled on lookup. */
  #known = 0

  constructor(template: RunTemplate, writes: SystemWrites) {
    this.template = template
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
