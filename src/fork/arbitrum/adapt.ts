// What contracts on Arbitrum see: NUMBER is the L1 block, and BLOCKHASH has L1 hashes, which init code in an
// `eth_call` at the block returns. ArbSys (a stand-in) gives the L2 block.
import { type Hash, parseHash, wordFromBigint } from '../../core/hex.ts'
import { LruCache, memoize } from '../../core/lrucache.ts'
import type { CallJob, TransactionJob } from '../../evm/executor.ts'
import type { SeenNumber, Upstream } from '../../node/ledger/upstream.ts'
import type { Json } from '../../rpc/schema.ts'
import type { MissSource } from '../../state/misses.ts'
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

/**
 * @param own the L2 number of the block whose contracts ask
 * @param number one of the 256 L1 blocks before the one they see
 */
type L1Hash = (own: bigint, number: bigint) => Hash | undefined

/** @param blockAt finds a block below the fork */
export function l1Hashes(
  network: ForkedNetwork,
  fork: RemoteBlock,
  blockAt: (number: bigint) => Promise<RemoteBlock>,
): L1Hash {
  const { header, parentNumber = 0n } = fork
  const pointAt = async (number: bigint): Promise<BlockPoint> =>
    pointOf(number === header.number ? fork : await blockAt(number))
  const seenAt = memoize(KEPT_BLOCKS, (at: bigint) => seenHashes(network, () => pointAt(at)))
  const none = (why: string): undefined => {
    network.warnOnce(`BLOCKHASH returns 0: L1 hashes ${why}`)
  }
  return (own, number) => {
    if (network.isProven) return none('cannot be proven')
    if (own > header.number && number >= parentNumber) return none('end at the fork')
    return seenAt(own > header.number ? header.number : own)(number)
  }
}

function seenHashes(
  network: ForkedNetwork,
  pointAt: () => Promise<BlockPoint>,
): (number: bigint) => Hash | undefined {
  const hashes = new LruCache<bigint, Hash>(KEPT_HASHES)
  const fetchHash = async (number: bigint, point: BlockPoint): Promise<void> => {
    const data = `0x7f${number.toString(16).padStart(64, '0')}4060005260206000f3`
    const read = (answer: Json): Hash => reading('a hash', answer, () => parseHash(String(answer)))
    hashes.set(number, await network.askAt('eth_call', [{ data }], point, read))
  }
  const source: MissSource = {
    fetch: async (misses) => {
      const point = await pointAt()
      const numbers = misses.flatMap((miss) => (miss.kind === 'hash' ? miss.number : []))
      await Promise.all(numbers.map((number) => fetchHash(number, point)))
    },
  }
  return (number) => {
    const known = hashes.get(number)
    if (known === undefined) missed({ kind: 'hash', number }, source)
    return known
  }
}

/** PREVRANDAO is the difficulty in each block. */
const PREV_RANDAO: Hash = wordFromBigint(1n)

export function adapting(seenNumber: SeenNumber, hashAt: L1Hash): NonNullable<Upstream['adapt']> {
  return <Job extends TransactionJob | CallJob>(job: Job): Job => {
    const seen = seenNumber(job.block)
    if (seen === undefined) return job
    const { world, block } = job
    const blockHash = (number: bigint): Hash | undefined => hashAt(block.number, number)
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
