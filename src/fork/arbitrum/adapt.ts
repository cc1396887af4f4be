// What contracts on Arbitrum see: NUMBER is the L1 block, and BLOCKHASH has L1 hashes, which init code in an
// `eth_call` at the block returns. ArbSys (a stand-in) gives the L2 block.
import { type Hash, parseHash, wordFromBigint } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { CallJob, TransactionJob } from '../../evm/executor.ts'
import type { SeenNumber, Upstream } from '../../node/ledger/upstream.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Miss, MissSource } from '../../state/misses.ts'
import { accountAt, type World, withAccount } from '../../state/world.ts'
import { reading } from '../network/answers.ts'
import { missed } from '../network/gather.ts'
import type { RemoteBlock } from '../network/header.ts'
import { type BlockPoint, type ForkedNetwork, pointOf } from '../network/network.ts'
import { ARBSYS } from '../network/owncontracts.ts'
import { STAND_IN } from './slotquery.ts'
import { arbSysIn } from './standins.ts'

const KEPT_BLOCKS = 64
const KEPT_HASHES = 256

export class L1Hashes {
  readonly #network: ForkedNetwork
  readonly #blockAt: (number: bigint) => Promise<RemoteBlock>
  readonly #fork: RemoteBlock
  readonly #seen = new LruCache<bigint, SeenHashes>(KEPT_BLOCKS)

  /** @param blockAt finds a block below the fork */
  constructor(
    network: ForkedNetwork,
    fork: RemoteBlock,
    blockAt: (number: bigint) => Promise<RemoteBlock>,
  ) {
    this.#network = network
    this.#blockAt = blockAt
    this.#fork = fork
  }

  /**
   * @param own the L2 number of the block whose contracts ask
   * @param number one of the 256 L1 blocks before the one they see
   */
  seenIn(own: bigint, number: bigint): Hash | undefined {
    const { header, parentNumber = 0n } = this.#fork
    if (this.#network.isProven) return this.#none('cannot be proven')
    if (own > header.number && number >= parentNumber) return this.#none('end at the fork')
    const at = own > header.number ? header.number : own
    const hashes = this.#seen.get(at) ?? new SeenHashes(this.#network, () => this.#pointOf(at))
    this.#seen.set(at, hashes)
    return hashes.get(number)
  }

  #none(why: string): undefined {
    this.#network.warnOnce(`BLOCKHASH returns 0: L1 hashes ${why}`)
  }

  async #pointOf(number: bigint): Promise<BlockPoint> {
    return pointOf(number === this.#fork.header.number ? this.#fork : await this.#blockAt(number))
  }
}

class SeenHashes implements MissSource {
  readonly #network: ForkedNetwork
  readonly #point: () => Promise<BlockPoint>
  readonly #hashes = new LruCache<bigint, Hash>(KEPT_HASHES)

  constructor(network: ForkedNetwork, point: () => Promise<BlockPoint>) {
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

function asking(number: bigint): string {
  return `0x7f${number.toString(16).padStart(64, '0')}4060005260206000f3`
}

/** PREVRANDAO is the difficulty in each block. */
const PREV_RANDAO: Hash = wordFromBigint(1n)

export function adapting(seenNumber: SeenNumber, hashes: L1Hashes): NonNullable<Upstream['adapt']> {
  return <Job extends TransactionJob | CallJob>(job: Job): Job => {
    const seen = seenNumber(job.block)
    if (seen === undefined) return job
    const { world, block } = job
    const blockHash = (number: bigint): Hash | undefined => hashes.seenIn(block.number, number)
    return {
      ...job,
      world: withArbSys(world, block),
      block: { ...block, number: seen, prevRandao: PREV_RANDAO, blockHash },
    }
  }
}

/** Keeps an account that a user has put at the address of ArbSys. */
function withArbSys(world: World, block: TransactionJob['block']): World {
  const account = accountAt(world, ARBSYS)
  if (account?.codeHash !== STAND_IN.codeHash) return world
  return withAccount(world, arbSysIn(account, block))
}
