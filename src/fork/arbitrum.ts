// Arbitrum has two block numbers: blocks count its own, and contracts see as NUMBER the block of the network below. Its own they
// ask of ArbSys, code of its nodes, which has a stand-in here.

import { keccakHash } from '../core/crypto/crypto.ts'
import { bytesFromHex, type Hash } from '../core/hex.ts'
import { LruCache } from '../core/lrucache.ts'
import type { CallJob, TransactionJob } from '../evm/executor.ts'
import type { SeenNumber } from '../node/ledger/upstream.ts'
import { emptyAccount, type World, withAccount } from '../state/world.ts'
import { ARBSYS } from './network/owncontracts.ts'

/** Stand-ins that are kept, of a block each. */
const KEPT = 256

const standIns = new LruCache<bigint, { readonly code: Uint8Array; readonly codeHash: Hash }>(KEPT)

/** A job as its network would run it: with the number that contracts see. */
export function adapted<Job extends TransactionJob | CallJob>(
  job: Job,
  seenNumber: SeenNumber | undefined,
): Job {
  const seen = seenNumber?.(job.block)
  if (seen === undefined) return job
  const { world, block } = job
  return { ...job, world: withArbSys(world, block.number), block: { ...block, number: seen } }
}

function withArbSys(world: World, number: bigint): World {
  let standIn = standIns.get(number)
  if (standIn === undefined) {
    const code = arbSysAt(number)
    standIn = { code, codeHash: keccakHash(code) }
    standIns.set(number, standIn)
  }
  return withAccount(world, { ...emptyAccount(ARBSYS), nonce: 1n, ...standIn })
}

/**
 * The code of ArbSys in a block: it answers arbBlockNumber() with the block's number and arbChainID() with the chain id, and
 * reverts for all else.
 */
export function arbSysAt(number: bigint): Uint8Array {
  const pushed = number.toString(16).padStart(16, '0')
  return bytesFromHex(
    [
      // the selector
      '0x5f3560e01c',
      // arbBlockNumber() to 0x1b, arbChainID() to 0x2b
      '8063a3b1b31d14601b57',
      '63d127f54a14602b57',
      // anything else
      '5f5ffd',
      // 0x1b
      `5b67${pushed}5f5260205ff3`,
      // 0x2b
      '5b465f5260205ff3',
    ].join(''),
  )
}
