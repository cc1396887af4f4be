// Mines empty blocks with real hashes, changing header and state in place, in WebAssembly.
import { integerSize, writeRlp } from '../../core/fastrlp/writer.ts'
import { bytesFromHex, concatBytes, equalBytes, ZERO_HASH } from '../../core/hex.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import { accessListOf, encodeAccessList } from '../../protocol/blocks/accesslist.ts'
import { encodeHeader, FIELDS, type Header } from '../../protocol/blocks/header.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE } from '../../state/predeploys.ts'
import { accessOfQueue, listedQueues, RING } from '../../state/systemslots.ts'
import { type Account, accountAt, stateRoot, type World } from '../../state/world.ts'
import { NUMBERS } from '../ledger/packing/hashindex.ts'
import type { SystemWrites } from '../mining/emptyblocks.ts'
import { randaoSeed } from '../mining/environment.ts'
import type { RunTemplate } from '../mining/runrecords.ts'
import { Arena, itemStarts, layAccountPaths } from './arena.ts'
import { BATCH, ENTRY } from './runlog.ts'
import { SealedRun } from './sealedrun.ts'

const RING_SLOTS = Number(RING)

/** Slots taken over and hashed before other work may get a turn: 1 ms or two. They come in the order of the trie. */
const SLOTS_IN_A_ROW = 256

/** Four-byte parameters of the module, in the order of `Parameters` in assembly/runminer.ts. */
const PARAMETERS = [
  ...(['parentHash', 'stateRoot', 'numberEnd', 'timestampEnd'] as const),
  ...(['numberLength', 'timestampLength', 'seed', 'root', 'randao', 'header'] as const),
  ...(['above', 'aboveEnd', 'times', 'parents', 'rooted'] as const),
  ...(['accessHash', 'slotEnd', 'slotLength', 'aheadLow', 'aheadHigh'] as const),
  ...(['listed', 'listedLength', 'ringAddresses', 'blocks'] as const),
] as const

/** The place of the hash of the access list in a header. */
const ACCESS_HASH = FIELDS.findIndex(([name]) => name === 'blockAccessListHash')

type Parameters = Partial<Record<(typeof PARAMETERS)[number], number>>

export class RunMiner {
  readonly run: SealedRun
  readonly #parent: Header
  readonly #arena = new Arena()
  /** Bytes of the RLP of number and timestamp that the header is laid out for. */
  #numberLength = 0
  #timestampLength = 0
  #slotLength = 0
  readonly #header: number
  readonly #seed: number
  readonly #seedLength: number
  readonly #parameters: number
  readonly #blocks: number
  #isLost = false

  private constructor(template: RunTemplate, writes: SystemWrites) {
    const { parent, abandoned } = template
    const arena = this.#arena
    this.#parent = parent.block.header
    this.run = new SealedRun(template, writes)
    const seed = randaoSeed(bytesFromHex(parent.block.hash), 0n, abandoned)
    this.#seed = arena.store(seed)
    this.#seedLength = seed.length
    this.#header = arena.allocate(encodeHeader(this.#parent).length + 64)
    this.#blocks = arena.allocate(ENTRY * BATCH)
    this.#parameters = arena.allocate(4 * PARAMETERS.length)
    this.#set({ seed: this.#seed, blocks: this.#blocks })
  }

  static async after(
    template: RunTemplate,
    writes: SystemWrites,
    yieldIfDue: YieldIfDue,
  ): Promise<RunMiner> {
    const miner = new RunMiner(template, writes)
    const { world } = template.parent
    await miner.#layRings(world, writes, yieldIfDue)
    miner.#layList(world)
    return miner
  }

  /** Seconds. */
  get newest(): bigint {
    const { count } = this.run
    return count === 0 ? this.#parent.timestamp : this.run.timestampAt(count - 1)
  }

  get next(): number {
    return Number(this.#parent.number) + 1 + this.run.count
  }

  /** At most `BATCH` timestamps, in seconds. Returns how many were mined; 0 when the next one can't be mined here. */
  mine(timestamps: readonly number[]): number {
    const number = this.next
    const isFull = this.run.count + BATCH > NUMBERS
    if (this.#isLost || isFull || !timestamps.every(Number.isSafeInteger)) return 0
    if (this.#parent.slotNumber !== undefined && !this.#isLater(timestamps)) return 0
    this.#layOut(number, timestamps[0]!)
    const view = new DataView(this.#arena.bytes.buffer, this.#blocks)
    for (const [index, time] of timestamps.entries()) view.setFloat64(ENTRY * index, time, true)
    const count = this.#arena.exports.mine(this.#parameters, number, timestamps.length)
    this.#isLost = count < 0
    if (count <= 0) return 0
    this.run.log.push(this.#arena.bytes.subarray(this.#blocks, this.#blocks + ENTRY * count))
    return count
  }

  /** False where a block has its parent's time, whose slot it does not change: the access list is another. */
  #isLater(timestamps: readonly number[]): boolean {
    const newest = Number(this.newest)
    return timestamps.every((time, index) => time !== (timestamps[index - 1] ?? newest))
  }

  /** Writes the header for integers of these sizes. Each block fills in the hashes. */
  #layOut(number: number, timestamp: number): void {
    const { slotNumber, number: before } = this.#parent
    const slot = slotNumber === undefined ? undefined : slotNumber + BigInt(number) - before
    const [numberLength, timestampLength] = [integerSize(number), integerSize(timestamp)]
    const slotLength = slot === undefined ? 0 : integerSize(slot)
    const isLaidOut =
      numberLength === this.#numberLength &&
      timestampLength === this.#timestampLength &&
      slotLength === this.#slotLength
    if (isLaidOut) return
    this.#numberLength = numberLength
    this.#timestampLength = timestampLength
    this.#slotLength = slotLength
    const encoded = encodeHeader({
      ...this.#parent,
      number: BigInt(number),
      timestamp: BigInt(timestamp),
      parentHash: ZERO_HASH,
      stateRoot: ZERO_HASH,
      mixHash: ZERO_HASH,
      ...(slot !== undefined && { slotNumber: slot, blockAccessListHash: ZERO_HASH }),
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
    if (slot === undefined) return
    this.#set({
      accessHash: starts[ACCESS_HASH]! + 1,
      slotEnd: this.#header + encoded.length,
      slotLength,
    })
  }

  /** What the access lists of all blocks have in common. */
  #layList(world: World): void {
    const { slotNumber, number } = this.#parent
    if (slotNumber === undefined) return
    const queues = listedQueues(world, 'amsterdam')
    const accounts = encodeAccessList(
      accessListOf([{ index: 1n, accesses: queues.map(accessOfQueue) }]),
    )
    const listed = accounts.subarray(itemStarts(accounts)[0])
    const addresses = [HISTORY_STORAGE, BEACON_ROOTS].map(({ address }) => bytesFromHex(address))
    const ahead = BigInt.asUintN(64, slotNumber - number)
    this.#set({
      listed: this.#arena.store(listed),
      listedLength: listed.length,
      ringAddresses: this.#arena.store(concatBytes(...addresses)),
      aheadLow: Number(ahead & 0xffff_ffffn),
      aheadHigh: Number(ahead >> 32n),
    })
  }

  async #layRings(world: World, writes: SystemWrites, yieldIfDue: YieldIfDue): Promise<void> {
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
    for (const [index, contract] of contracts.entries()) {
      const { job, storageRoot } = accounts[index]!
      // `Ring` in assembly/runminer.ts
      const ring = arena.storeWords([0, storageRoot, job, arena.allocate(4 * RING_SLOTS)])
      const { storage } = accountAt(world, contract.address)!
      const isTimes = contract === BEACON_ROOTS
      const rooted = isTimes ? arena.allocate(RING_SLOTS) : 0
      this.#set(isTimes ? { times: ring, rooted } : { parents: ring })
      this.#isLost ||= !(await this.#isFilled(ring, storage, rooted, yieldIfDue))
      const hash = arena.bytes.subarray(storageRoot, storageRoot + 32)
      this.#isLost ||= !storage.isEmpty && !equalBytes(hash, storage.rootBytes)
    }
  }

  /** Takes over the slots of a storage; false when a node became too short. */
  async #isFilled(
    ring: number,
    storage: Account['storage'],
    rooted: number,
    yieldIfDue: YieldIfDue,
  ): Promise<boolean> {
    const arena = this.#arena
    const { exports } = arena
    const room = arena.allocate(64)
    let count = 0
    for (const { slot, value } of storage.values()) {
      count += 1
      if (count % SLOTS_IN_A_ROW === 0) {
        exports.hash(ring, 0)
        exports.run()
        await yieldIfDue()
      }
      const encoded = writeRlp(value)
      arena.bytes.set(encoded, room)
      if (slot < RING) {
        if (exports.fill(ring, Number(slot), room, encoded.length) === 0) return false
      } else {
        if (rooted !== 0) arena.bytes[rooted + Number(slot % RING)] = 1
        if (!arena.put(ring, slotKey(slot), encoded)) return false
      }
    }
    exports.hash(ring, 0)
    exports.run()
    return true
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
