// Mines empty blocks one after another with real hashes: what differs of header and state from one to the next is changed
// in place, in WebAssembly.
import { bytesFromHex, equalBytes, ZERO_HASH } from '../../core/hex.ts'
import { encodeRlp, integerSize } from '../../core/rlp.ts'
import { encodeHeader } from '../../protocol/blocks/block.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy } from '../../state/predeploys.ts'
import { RING } from '../../state/systemslots.ts'
import { accountAt, stateRoot } from '../../state/world.ts'
import type { SystemWrites } from '../mining/emptyblocks.ts'
import { randaoSeed } from '../mining/randao.ts'
import type { RunTemplate } from '../mining/runrecords.ts'
import { itemStarts, layAccountPaths } from './accountpaths.ts'
import { Arena, type ArenaExports } from './arena.ts'
import { LiveTrie } from './livetrie.ts'
import type { RingStorages } from './ringworlds.ts'
import { WASM } from './runminer.wasm.ts'
import { SealedRun } from './sealedrun.ts'

interface Exports extends ArenaExports {
  readonly mine: (parameters: number, number: number, count: number) => number
  readonly fill: (ring: number, slot: number, value: number, length: number) => number
}

const MODULE = new WebAssembly.Module(Buffer.from(WASM, 'base64'))

const RING_SLOTS = Number(RING)

/** Blocks that one call of the module mines at most. */
const MOST_AT_ONCE = 64

/** The parameters of the module: numbers of four bytes in this order (`Parameters` in assembly/runminer.ts). */
const PARAMETERS = [
  ...(['parentHash', 'stateRoot', 'numberEnd', 'timestampEnd'] as const),
  ...(['numberLength', 'timestampLength', 'seed', 'root', 'randao', 'header'] as const),
  ...(['above', 'aboveEnd', 'times', 'parents', 'rooted'] as const),
  ...(['timestamps', 'hashes', 'roots'] as const),
] as const

type Parameters = Partial<Record<(typeof PARAMETERS)[number], number>>

/** Parts of the module's memory, for `MOST_AT_ONCE` blocks. */
interface Views {
  readonly timestamps: Float64Array
  readonly hashes: Uint8Array
  readonly roots: Uint8Array
}

/** A system contract's storage in memory. */
interface Ring {
  readonly contract: Predeploy
  readonly trie: LiveTrie
}

/**
 * What a run knows of its miner. An object of its own: a function made in the miner's constructor would keep the miner for
 * as long as the run.
 */
class Sharing {
  #target: ((index: number, storages: RingStorages) => void) | undefined

  constructor(target: (index: number, storages: RingStorages) => void) {
    this.#target = target
  }

  readonly share = (index: number, storages: RingStorages): void => this.#target?.(index, storages)

  end(): void {
    this.#target = undefined
  }
}

/** Mines the blocks of a run. */
export class RunMiner {
  readonly run: SealedRun
  readonly #template: RunTemplate
  /** The number of the first block. */
  readonly #first: number
  #views: Views | undefined
  readonly #arena = new Arena<Exports>(MODULE)
  readonly #times: LiveTrie | undefined
  readonly #parents: LiveTrie | undefined
  /** Bytes of the RLP of number and timestamp that the header is laid out for. */
  #numberLength = 0
  #timestampLength = 0
  readonly #header: number
  readonly #seed: number
  readonly #seedLength: number
  readonly #parameters: number
  readonly #timestamps: number
  readonly #hashes: number
  readonly #roots: number
  /** True when the tries can't follow the chain any more. */
  #isLost = false
  /** Parts the run from this miner. */
  readonly #letGo: () => void

  constructor(template: RunTemplate, writes: SystemWrites) {
    const { parent, abandoned } = template
    const arena = this.#arena
    this.#template = template
    this.#first = Number(parent.block.header.number) + 1
    const sharing = new Sharing((index, storages) => this.#shareHashes(index, storages))
    this.#letGo = () => sharing.end()
    this.run = new SealedRun(template, {
      writes,
      onMade: sharing.share,
    })
    const seed = randaoSeed(bytesFromHex(parent.block.hash), 0n, abandoned)
    this.#seed = arena.store(seed)
    this.#seedLength = seed.length
    this.#header = arena.allocate(encodeHeader(parent.block.header).length + 64)
    this.#timestamps = arena.allocate(8 * MOST_AT_ONCE)
    this.#hashes = arena.allocate(32 * MOST_AT_ONCE)
    this.#roots = arena.allocate(32 * MOST_AT_ONCE)
    this.#parameters = arena.allocate(4 * PARAMETERS.length)
    const rings = this.#ringsOf(writes)
    this.#times = rings.find(({ contract }) => contract === BEACON_ROOTS)?.trie
    this.#parents = rings.find(({ contract }) => contract === HISTORY_STORAGE)?.trie
    this.#set({
      seed: this.#seed,
      times: this.#times?.at ?? 0,
      parents: this.#parents?.at ?? 0,
      timestamps: this.#timestamps,
      hashes: this.#hashes,
      roots: this.#roots,
    })
  }

  /** Mines no more: the run stays, and the memory that it was mined in need not. */
  close(): void {
    this.#isLost = true
    this.#letGo()
  }

  /** The number of the next block. */
  get next(): number {
    return this.#first + this.run.count
  }

  /**
   * Mines the next blocks, with these timestamps in seconds.
   * @returns how many were mined; the next one can't be mined here where it is fewer
   */
  mine(timestamps: ArrayLike<number>): number {
    let mined = 0
    while (mined < timestamps.length) {
      const count = this.#mineFrom(mined, timestamps)
      if (count === 0) break
      mined += count
    }
    return mined
  }

  #mineFrom(start: number, timestamps: ArrayLike<number>): number {
    const number = this.next
    const timestamp = timestamps[start]!
    if (this.#isLost || !Number.isSafeInteger(timestamp)) return 0
    this.#layOut(number, timestamp)
    const most = Math.min(MOST_AT_ONCE, timestamps.length - start)
    const views = this.#viewsNow()
    for (let index = 0; index < most; index++) views.timestamps[index] = timestamps[start + index]!
    const count = this.#arena.exports.mine(this.#parameters, number, most)
    this.#isLost = count < 0
    if (count <= 0) return 0
    const { timestamps: mined, hashes, roots } = this.#viewsNow()
    this.run.log.push(count, mined, hashes, roots)
    return count
  }

  /** What the module reads and writes with each block; other views after the memory grew. */
  #viewsNow(): Views {
    const { buffer } = this.#arena.bytes
    if (this.#views?.hashes.buffer !== buffer) {
      this.#views = {
        timestamps: new Float64Array(buffer, this.#timestamps, MOST_AT_ONCE),
        hashes: new Uint8Array(buffer, this.#hashes, 32 * MOST_AT_ONCE),
        roots: new Uint8Array(buffer, this.#roots, 32 * MOST_AT_ONCE),
      }
    }
    return this.#views
  }

  /** Writes the header for integers of the size of these. The hashes in it are written with each block. */
  #layOut(number: number, timestamp: number): void {
    const [numberLength, timestampLength] = [integerSize(number), integerSize(timestamp)]
    const isLaidOut =
      numberLength === this.#numberLength && timestampLength === this.#timestampLength
    if (isLaidOut) return
    this.#numberLength = numberLength
    this.#timestampLength = timestampLength
    const encoded = encodeHeader({
      ...this.#template.parent.block.header,
      number: BigInt(number),
      timestamp: BigInt(timestamp),
      parentHash: ZERO_HASH,
      stateRoot: ZERO_HASH,
      mixHash: ZERO_HASH,
    })
    this.#arena.bytes.set(encoded, this.#header)
    const starts = itemStarts(encoded).map((start) => this.#header + start)
    this.#set({
      parentHash: starts[0]! + 1,
      stateRoot: starts[3]! + 1,
      numberEnd: starts[9]!,
      timestampEnd: starts[12]!,
      numberLength,
      timestampLength,
      randao: this.#job(this.#seed, this.#seedLength, starts[13]! + 1),
      // the hash is the next block's parent
      header: this.#job(this.#header, encoded.length, this.#seed),
    })
  }

  /** The storages that blocks write to, in memory, and the paths to them. */
  #ringsOf(writes: SystemWrites): readonly Ring[] {
    const { world } = this.#template.parent
    const contracts = [
      ...(writes.time ? [BEACON_ROOTS] : []),
      ...(writes.hash ? [HISTORY_STORAGE] : []),
    ]
    const arena = this.#arena
    const root = arena.store(bytesFromHex(stateRoot(world)))
    const keys = contracts.map(({ address }) => addressKey(address))
    const { accounts, above } = layAccountPaths(arena, world, keys, root)
    const first = arena.storeWords(above)
    this.#set({ root, above: first, aboveEnd: first + 4 * above.length })
    return contracts.map((contract, index) => {
      const { job, storageRoot: target } = accounts[index]!
      // the trie, then `account` and `leaves` of `Ring` in assembly/runminer.ts
      const at = arena.storeWords([0, 0, job, arena.allocate(4 * RING_SLOTS)])
      const trie = new LiveTrie(arena, at, target)
      this.#fill(trie, contract, target)
      return { contract, trie }
    })
  }

  /** Takes over the slots of a contract. */
  #fill(trie: LiveTrie, contract: Predeploy, target: number): void {
    const account = accountAt(this.#template.parent.world, contract.address)!
    const rooted = contract === BEACON_ROOTS ? this.#arena.allocate(RING_SLOTS) : 0
    if (rooted !== 0) this.#set({ rooted })
    const room = this.#arena.allocate(64)
    let isFull = true
    for (const { slot, value } of account.storage.values()) {
      const encoded = encodeRlp(value)
      this.#arena.bytes.set(encoded, room)
      if (slot < RING) {
        isFull &&= this.#arena.exports.fill(trie.at, Number(slot), room, encoded.length) !== 0
      } else {
        if (rooted !== 0) this.#arena.bytes[rooted + Number(slot % RING)] = 1
        isFull &&= trie.put(slotKey(slot), encoded)
      }
    }
    this.#arena.exports.hash(trie.at, 0)
    this.#arena.exports.run()
    const root = this.#arena.bytes.subarray(target, target + 32)
    const isSame = account.storage.isEmpty || equalBytes(root, account.storage.rootBytes)
    this.#isLost ||= !isFull || !isSame
  }

  /** Hands the hashes that were made here to storages, which need not make them again. */
  #shareHashes(index: number, { time, hashes }: RingStorages): void {
    if (this.#isLost || index !== this.run.count - 1) return
    this.#times?.shareHashes(time)
    this.#parents?.shareHashes(hashes)
  }

  #set(part: Parameters): void {
    for (const [name, value] of Object.entries(part)) {
      this.#arena.setWords(this.#parameters + 4 * PARAMETERS.indexOf(name as keyof Parameters), [
        value,
      ])
    }
  }

  #job(source: number, length: number, target: number): number {
    return this.#arena.storeJob({ source, length, target })
  }
}
