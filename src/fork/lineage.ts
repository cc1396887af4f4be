// Hashes of the blocks below a fork, with proofs by parent hashes or by the history contract (EIP-2935).
import { DevchainError } from '../core/errors.ts'
import {
  equalBytes,
  type Hash,
  hashFromBytes,
  paddedBytes,
  quantityFromBigint,
} from '../core/hex.ts'
import { LruCache } from '../core/lrucache.ts'
import { hashHeader } from '../protocol/blocks/header.ts'
import type { Json } from '../rpc/schema.ts'
import { HISTORY_STORAGE } from '../state/predeploys.ts'
import { historySlot, RING } from '../state/systemslots.ts'
import { accountAt, slotValue } from '../state/world.ts'
import { NoAnswer } from './client/provider.ts'
import { unexpected } from './network/answers.ts'
import { type RemoteBlock, readBlock } from './network/header.ts'
import { type BlockPoint, type ForkedNetwork, pointOf } from './network/network.ts'
import { BlockState } from './state.ts'
import { unproven } from './tries.ts'

/** Cached hashes: more than one walk visits. */
const KEPT_HASHES = 16_384

/** Headers of a walk from parent to parent, and how many one round fetches. */
const MOST_WALKED = 8_192n
const AT_ONCE = 256n

export class Lineage {
  readonly #network: ForkedNetwork
  readonly #fork: BlockPoint
  readonly #hashes = new LruCache<bigint, Hash>(KEPT_HASHES)
  /** State after the fork block; undefined: it has no history contract. */
  #history: BlockState | undefined

  constructor(network: ForkedNetwork, head: RemoteBlock) {
    this.#network = network
    this.#fork = pointOf(head)
    // prague brought both the contract and this member
    if (head.header.requestsHash !== undefined) this.#history = new BlockState(network, this.#fork)
    this.#note(head)
  }

  hashOf(number: bigint): Hash | undefined {
    return number === this.#fork.number ? this.#fork.hash : this.#hashes.get(number)
  }

  /** @throws {DevchainError} `UPSTREAM_FAILED` for hashes that cannot be fetched or proven */
  async find(numbers: readonly bigint[]): Promise<void> {
    await this.#fromHistory(numbers)
    const open = numbers.filter((number) => this.hashOf(number) === undefined)
    if (this.#network.isProven) {
      // the walk to the oldest one passes the others
      for (const number of open.toSorted((a, b) => (a < b ? -1 : 1))) await this.#prove(number)
    } else await Promise.all(open.map((number) => this.blockAt(number)))
  }

  /** @throws {DevchainError} as `find` */
  async blockAt(number: bigint): Promise<RemoteBlock> {
    if (this.#network.isProven) await this.#prove(number)
    const block = await this.#fetch(number)
    if (this.#network.isProven) this.#requireHash(block)
    this.#note(block)
    return block
  }

  /** @throws {DevchainError} `UPSTREAM_FAILED` for a block other than the proven one */
  async requireOwn(json: Json): Promise<void> {
    if (json === null) return
    const block = readBlock(json)
    const { number } = block.header
    // what is too far down is shown unverified
    if (number > this.#fork.number || this.#oldestKept - number > MOST_WALKED) return
    await this.#prove(number)
    this.#requireHash(block)
  }

  #fetch(number: bigint): Promise<RemoteBlock> {
    const params = [quantityFromBigint(number), false]
    const read = (json: Json): RemoteBlock => {
      if (json === null) {
        const message = `the forked network has no block ${number}, below the fork at ${this.#fork.number}`
        throw new NoAnswer(message)
      }
      const block = readBlock(json)
      if (block.header.number === number) return block
      throw unexpected(`block ${number}`, json)
    }
    return this.#network.askHistory(this.#fork, 'eth_getBlockByNumber', params, number, read)
  }

  #note({ hash, header: { number, parentHash } }: RemoteBlock): void {
    this.#hashes.set(number, hash)
    if (number > 0n) this.#hashes.set(number - 1n, parentHash)
  }

  /** The oldest block in the history contract; the fork block if there is none. */
  get #oldestKept(): bigint {
    const { number } = this.#fork
    if (this.#history === undefined) return number
    return number > RING ? number - RING : 0n
  }

  async #fromHistory(numbers: readonly bigint[]): Promise<void> {
    const oldest = this.#oldestKept
    const kept = numbers.filter((each) => each >= oldest && this.hashOf(each) === undefined)
    const history = this.#history
    if (history === undefined || kept.length === 0) return
    const { address, code } = HISTORY_STORAGE
    const slots = kept.map((number) => historySlot(number + 1n))
    const misses = slots.map((slot) => ({ kind: 'slot', address, slot }) as const)
    const isThere = await this.#fetched(history.fetch([{ kind: 'account', address }, ...misses]))
    const account = isThere ? accountAt(history.world, address) : undefined
    // another contract may keep them elsewhere, as Arbitrum's does
    if (account === undefined || !equalBytes(account.code, code)) {
      this.#history = undefined
      return
    }
    kept.forEach((number, index) => {
      const value = slotValue(account.storage, slots[index]!)
      if (value !== 0n) this.#hashes.set(number, hashFromBytes(paddedBytes(value, 32)))
    })
  }

  /** False: the network refuses, and without proofs headers are enough. */
  async #fetched(work: Promise<void>): Promise<boolean> {
    try {
      await work
      return true
    } catch (error) {
      if (this.#network.isProven || !(error instanceof DevchainError)) throw error
      return false
    }
  }

  async #prove(number: bigint): Promise<void> {
    if (this.hashOf(number) !== undefined) return
    const oldest = this.#oldestKept
    await this.#fromHistory([number < oldest ? oldest : number])
    if (this.hashOf(number) === undefined) await this.#walk(number)
  }

  async #walk(number: bigint): Promise<void> {
    let top = number + 1n
    while (this.hashOf(top) === undefined && top - number <= MOST_WALKED) top += 1n
    if (top - number > MOST_WALKED) {
      const message = `block ${number} of the forked network is over ${MOST_WALKED} blocks below those whose hashes are proven: it is too far to follow headers to it (--fork-proofs)`
      throw new DevchainError('UPSTREAM_FAILED', message)
    }
    for (let at = top; at > number; at -= AT_ONCE) {
      const count = at - number < AT_ONCE ? at - number : AT_ONCE
      const wanted = Array.from({ length: Number(count) }, (_, index) => at - BigInt(index))
      for (const block of await Promise.all(wanted.map((each) => this.#fetch(each)))) {
        this.#requireHash(block)
        this.#note(block)
      }
    }
  }

  #requireHash({ hash, header }: RemoteBlock): void {
    const { number } = header
    const proven = this.hashOf(number)
    if (hashHeader(header) !== hash) {
      throw unproven(`block ${number}`, `its header has another hash than ${hash}`)
    }
    if (hash === proven) return
    throw unproven(`block ${number}`, `it is ${hash}, and the fork follows from ${proven}`)
  }
}
