// The hashes that BLOCKHASH gives on Arbitrum: of blocks of the network below, as its nodes were told of them. They are asked for in
// a call at the block that sees them, whose code is the question.
import { type Hash, parseHash } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Miss, MissSource } from '../../state/misses.ts'
import { reading } from '../network/answers.ts'
import { missed } from '../network/gather.ts'
import type { RemoteBlock } from '../network/header.ts'
import { type BlockPoint, type Network, pointOf } from '../network/network.ts'

/** Blocks whose contracts ask for hashes, and hashes of each. */
const KEPT_BLOCKS = 64
const KEPT_HASHES = 256

export class BelowHashes {
  readonly #network: Network
  readonly #blockAt: (number: bigint) => Promise<RemoteBlock>
  readonly #fork: RemoteBlock
  readonly #seen = new LruCache<bigint, SeenHashes>(KEPT_BLOCKS)

  /** @param blockAt finds a block below the fork */
  constructor(
    network: Network,
    fork: RemoteBlock,
    blockAt: (number: bigint) => Promise<RemoteBlock>,
  ) {
    this.#network = network
    this.#blockAt = blockAt
    this.#fork = fork
  }

  /**
   * @param own the number of the block whose contracts ask
   * @param number one of the 256 before the number that they see
   */
  seenIn(own: bigint, number: bigint): Hash | undefined {
    const { header, parentNumber = 0n } = this.#fork
    if (this.#network.isProven) return this.#none('cannot be proven')
    if (own > header.number && number >= parentNumber) return this.#none('after the fork are none')
    const at = own > header.number ? header.number : own
    let hashes = this.#seen.get(at)
    if (hashes === undefined) {
      hashes = new SeenHashes(this.#network, () => this.#pointOf(at))
      this.#seen.set(at, hashes)
    }
    return hashes.get(number)
  }

  #none(why: string): undefined {
    this.#network.tellOnce(`BLOCKHASH gives 0: hashes of blocks of the network below ${why}`)
  }

  async #pointOf(number: bigint): Promise<BlockPoint> {
    return pointOf(number === this.#fork.header.number ? this.#fork : await this.#blockAt(number))
  }
}

/** The hashes that the contracts of one block see. */
class SeenHashes implements MissSource {
  readonly #network: Network
  readonly #point: () => Promise<BlockPoint>
  readonly #hashes = new LruCache<bigint, Hash>(KEPT_HASHES)

  constructor(network: Network, point: () => Promise<BlockPoint>) {
    this.#network = network
    this.#point = point
  }

  get(number: bigint): Hash | undefined {
    const known = this.#hashes.get(number)
    if (known === undefined) missed({ kind: 'hash', number }, this)
    return known
  }

  async fetch(misses: readonly Miss[]): Promise<void> {
    const point = await this.#point()
    await Promise.all(
      misses.map(async (miss) => {
        if (miss.kind !== 'hash') return
        const call = [{ data: asking(miss.number) }]
        const read = (answer: Json): Hash =>
          reading('a hash', answer, () => parseHash(String(answer)))
        this.#hashes.set(miss.number, await this.#network.askAt('eth_call', call, point, read))
      }),
    )
  }
}

/** Init code that returns the hash of a block. */
function asking(number: bigint): string {
  return `0x7f${number.toString(16).padStart(64, '0')}4060005260206000f3`
}
