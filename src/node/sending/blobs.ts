// Blobs that come with transactions: proven before these enter the pool, and found again.

import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { type BlobSidecar, checkSidecar } from '../../protocol/transactions/sidecar.ts'
import type { UnsignedTransaction } from '../../protocol/transactions/transaction.ts'
import { requireBlobs, requireType } from '../../protocol/transactions/transactionrules.ts'
import type { Chain } from '../chain/chain.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { nextRules } from '../mining/environment.ts'
import type { BlobStore } from '../pool/blobstore.ts'
import { pooledByHash } from '../pool/pool.ts'

/**
 * Makes sure that blobs are those of a transaction: as many as the next block would take, with commitments of its hashes
 * and proofs that hold.
 * @throws {DevchainError} `TYPE_NOT_SUPPORTED` before cancun, else `INVALID_BLOBS`
 */
export async function proveBlobs(
  { state, executor, environment }: Chain,
  transaction: Pick<UnsignedTransaction, 'type' | 'to' | 'blobs'>,
  sidecar: BlobSidecar,
): Promise<void> {
  const { number, timestamp, hardfork } = nextRules(state, environment.now())
  requireType(transaction, hardfork)
  requireBlobs(transaction, hardfork, state.config.blobRulesAt(number, timestamp))
  checkSidecar(transaction.blobs?.versionedHashes ?? [], sidecar)
  const wrong = await executor.findWrongBlob(sidecar)
  if (wrong === undefined) return
  const message = `invalid KZG proof: blob ${wrong} is not what its commitment and proofs (version ${sidecar.version}) say`
  throw new DevchainError('INVALID_BLOBS', message)
}

/** The blobs of a transaction that waits or is mined; undefined when it has none, or they are no longer kept. */
export function blobsOfTransaction(
  state: ChainState,
  hash: Hash,
): readonly Uint8Array[] | undefined {
  return keptBlobs(state).find(({ transaction }) => transaction === hash)?.blobs
}

/** The blob of a hash, of any transaction that waits or is mined. */
export function blobByHash(state: ChainState, hash: Hash): Uint8Array | undefined {
  const kept = keptBlobs(state).find(({ hashes }) => hashes.includes(hash))
  return kept?.blobs[kept.hashes.indexOf(hash)]
}

/** Those of transactions that the chain knows: not of what was dropped, or left behind by a reorganization. */
function keptBlobs({ blobs, tree, pool }: ChainState): BlobStore {
  return blobs.filter(
    ({ transaction }) =>
      transactionPlace(tree, transaction) !== undefined ||
      pooledByHash(pool, transaction) !== undefined,
  )
}
