// Caches the blocks of the forked network up to the fork block, by number and hash.
import { type Hash, ZERO_HASH } from '../core/hex.ts'
import { LruCache } from '../core/lrucache.ts'
import type { BlockRecord, BlockRun } from '../node/ledger/blockrecord.ts'
import type { Header } from '../protocol/blocks/header.ts'
import type { Json } from '../rpc/schema.ts'
import { type Miss, MissingState, type MissSource } from '../state/misses.ts'
import type { World } from '../state/world.ts'
import { currentWaitBudget, type WaitBudget } from './client/waitbudget.ts'
import type { Lineage } from './lineage.ts'
import { unexpected } from './network/answers.ts'
import { gathering, missed } from './network/gather.ts'
import { type BlockBody, type RemoteBlock, readBlock, recordOf } from './network/header.ts'
import { type BlockPoint, type ForkedNetwork, pointOf } from './network/network.ts'
import { prefetchListed } from './replay/listed.ts'
import { bodyOf } from './replay/whole.ts'
import { BlockState } from './state.ts'

/** Items in memory; the store holds the rest. */
const KEPT_BLOCKS = 512
const KEPT_STRANGERS = 4_096
const KEPT_PLACES = 65_536

interface KnownBlock {
  readonly record: BlockRecord
  readonly seenNumber: bigint | undefined
}

/** @throws {NoAnswer} for what is no block, or another one */
function requireHash(json: Json, hash: Hash): RemoteBlock | undefined {
  const block = json === null ? undefined : readBlock(json)
  if (block === undefined || block.hash === hash) return block
  throw unexpected(`the block ${hash}`, json)
}

export class Ancestors implements BlockRun, MissSource {
  readonly count: number
  readonly fork: string
  readonly #network: ForkedNetwork
  readonly #fork: BlockPoint
  readonly #blocks = new LruCache<bigint, KnownBlock>(KEPT_BLOCKS)
  readonly #bodies = new LruCache<bigint, BlockBody>(KEPT_BLOCKS)
  readonly #places = new LruCache<Hash, { readonly number: bigint; readonly index: number }>(
    KEPT_PLACES,
  )
  readonly #numbers = new LruCache<Hash, bigint>(KEPT_BLOCKS)
  readonly #lineage: Lineage
  /** With the work that asked: later work retries, as a node that had fallen behind may know the hash by then. */
  readonly #strangers = new LruCache<Hash, { readonly of: WaitBudget | undefined }>(KEPT_STRANGERS)

  constructor(network: ForkedNetwork, head: RemoteBlock, lineage: Lineage) {
    this.#fork = pointOf(head)
    this.count = Number(this.#fork.number) + 1
    this.fork = network.fork
    this.#network = network
    this.#lineage = lineage
  }

  hashAt(index: number): Hash {
    const number = BigInt(index)
    const known = this.#lineage.hashOf(number)
    if (known !== undefined) return known
    missed({ kind: 'hash', number }, this)
    return ZERO_HASH
  }

  indexOf(hash: Hash): number | undefined {
    if (hash === this.#fork.hash) return Number(this.#fork.number)
    const known = this.#numbers.get(hash)
    if (known !== undefined) return Number(known)
    const stranger = this.#strangers.get(hash)
    if (stranger !== undefined && stranger.of === currentWaitBudget()) return undefined
    throw this.#missing({ kind: 'block', hash })
  }

  recordAt(index: number): BlockRecord {
    const number = BigInt(index)
    const known = this.#blocks.get(number)
    if (known !== undefined) return known.record
    throw this.#missing({ kind: 'header', number })
  }

  async fetch(misses: readonly Miss[]): Promise<void> {
    const hashes = misses.filter((miss) => miss.kind === 'hash')
    await Promise.all([
      hashes.length > 0 && this.#lineage.find(hashes.map(({ number }) => number)),
      ...misses.map((miss) => {
        if (miss.kind === 'header') return this.#fetchNumber(miss.number)
        if (miss.kind === 'body') return this.recall(miss.number)
        return miss.kind === 'block' ? this.#fetchHash(miss.hash) : undefined
      }),
    ])
  }

  placeOf(hash: Hash): { readonly record: BlockRecord; readonly index: number } | undefined {
    const place = this.#places.get(hash)
    return place && { record: this.recordAt(Number(place.number)), index: place.index }
  }

  async recall(number: bigint): Promise<void> {
    if (this.#bodies.get(number) !== undefined) return
    const body = await bodyOf(this.#network, this.#fork, number)
    this.#bodies.set(number, body)
    for (const [index, { hash }] of body.transactions.entries()) {
      this.#places.set(hash, { number, index })
    }
  }

  /** Fetches what a replay of the block needs, as far as the network names it. */
  async prepareReplay(number: bigint): Promise<void> {
    await this.recall(number)
    const block = await this.#lineage.blockAt(number)
    if (block.header.blockAccessListHash === undefined) return
    await this.#fetchNumber(number - 1n)
    const before = (): World => this.recordAt(Number(number) - 1).world
    await prefetchListed(this.#network, this.#fork, block, before)
  }

  #bodyOf(number: bigint): BlockBody {
    const known = this.#bodies.get(number)
    if (known !== undefined) return known
    throw this.#missing({ kind: 'body', number })
  }

  /** Blocks are never guessed: work that needs one stops here, and resumes when it is fetched. */
  #missing(miss: Miss): MissingState {
    gathering()?.add(miss, this)
    return new MissingState(miss, this)
  }

  headerOf(number: bigint): Header | undefined {
    return this.#blocks.get(number)?.record.block.header
  }

  /** The NUMBER that contracts saw in a block that was read; undefined: the block's own number. */
  seenNumberOf(number: bigint): bigint | undefined {
    return this.#blocks.get(number)?.seenNumber
  }

  async #fetchNumber(number: bigint): Promise<void> {
    this.#put(await this.#lineage.blockAt(number))
  }

  async #fetchHash(hash: Hash): Promise<void> {
    const [method, params] = ['eth_getBlockByHash', [hash, false]] as const
    const read = (json: Json): RemoteBlock | undefined => requireHash(json, hash)
    const block = await this.#network.askHistory(this.#fork, method, params, undefined, read)
    const number = block?.header.number
    if (number !== undefined && number < this.#fork.number) await this.#fetchNumber(number)
    // unknown, or beside the chain, where its number has a sibling
    if (this.#numbers.get(hash) === undefined) {
      this.#strangers.set(hash, { of: currentWaitBudget() })
    }
  }

  #put(block: RemoteBlock): void {
    const point = pointOf(block)
    const { number, hash } = point
    const worldOf = (): World => new BlockState(this.#network, point).world
    const record = recordOf(block, worldOf, () => this.#bodyOf(number))
    this.#blocks.set(number, { record, seenNumber: block.parentNumber })
    this.#numbers.set(hash, number)
  }
}
