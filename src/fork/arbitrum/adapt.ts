// Arbitrum has two block numbers: blocks count its own, and contracts see as NUMBER the block of the network below. Its own they
// ask of ArbSys, code of its nodes, which has a stand-in here.
import type { Hash } from '../../core/hex.ts'
import { wordFromBigint } from '../../core/hex.ts'
import type { CallJob, TransactionJob } from '../../evm/executor.ts'
import type { SeenNumber, Upstream } from '../../node/ledger/upstream.ts'
import { accountAt, type World, withAccount } from '../../state/world.ts'
import { ARBSYS } from '../network/owncontracts.ts'
import type { BelowHashes } from './belowhashes.ts'
import { STAND_IN } from './question.ts'
import { arbSysIn } from './standins.ts'

/** What PREVRANDAO gives in each block: its difficulty. */
const PREV_RANDAO: Hash = wordFromBigint(1n)

/** Makes a job what Arbitrum would run. */
export function adapting(
  seenNumber: SeenNumber,
  hashes: BelowHashes,
): NonNullable<Upstream['adapt']> {
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

/** An account that somebody has put in its place stays. */
function withArbSys(world: World, block: TransactionJob['block']): World {
  const account = accountAt(world, ARBSYS)
  if (account?.codeHash !== STAND_IN.codeHash) return world
  return withAccount(world, arbSysIn(account, block))
}
