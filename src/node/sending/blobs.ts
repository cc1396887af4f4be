// Verifies the blobs of transactions before admission, and finds them later.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import {
  type BlobSidecar,
  checkSidecar,
  type SentTransaction,
} from '../../protocol/transactions/sidecar.ts'
import type { UnsignedTransaction } from '../../protocol/transactions/transaction.ts'
import { requireBlobs, requireType } from '../../protocol/transactions/transactionrules.ts'
import type { Chain } from '../chain/chain.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { nextRules } from '../mining/environment.ts'
import { type BlobStore, keptSidecar } from '../pool/blobstore.ts'
import { pooledByHash } from '../pool/pool.ts'

/** Checks count, hashes and proofs. Throws `TYPE_NOT_SUPPORTED` before cancun, else `INVALID_BLOBS`. */
export async function proveBlobs(
  { state, executor, environment }: Chain,
  transaction: Pick<UnsignedTransaction, 'type' | 'to' | 'blobs'>,
  sidecar: BlobSidecar,
): Promise<void> {
  const { hardfork, blobRules } = nextRules(state, environment.now())
  requireType(transaction, hardfork)
  requireBlobs(transaction, hardfork, blobRules)
  checkSidecar(transaction.blobs?.versionedHashes ?? [], sidecar)
  const wrong = await executor.findWrongBlob(sidecar)
  if (wrong === undefined) return
  const message = `invalid KZG proof: blob ${wrong} does not match its commitment and proofs (version ${sidecar.version})`
  throw new DevchainError('INVALID_BLOBS', message)
}

/** @throws {DevchainError} as `proveBlobs`, also for a blob transaction without its blobs */
export async function requireProven(
  chain: Chain,
  { transaction, sidecar }: SentTransaction,
): Promise<void> {
  if (transaction.type !== 3) return
  if (sidecar !== undefined) return proveBlobs(chain, transaction, sidecar)
  const message =
    'blob transaction without its blobs: expected 0x03 and rlp([transaction, blobs, commitments, proofs]) or rlp([transaction, 1, blobs, commitments, cell proofs]), got the transaction alone, as in a block'
  throw new DevchainError('INVALID_BLOBS', message)
}

export function blobsOfTransaction(
  state: ChainState,
  hash: Hash,
): readonly Uint8Array[] | undefined {
  return keptSidecar(keptBlobs(state), hash)?.blobs
}

export function blobByHash(state: ChainState, hash: Hash): Uint8Array | undefined {
  const kept = keptBlobs(state).find(({ hashes }) => hashes.includes(hash))
  return kept?.sidecar.blobs[kept.hashes.indexOf(hash)]
}

/** Excludes blobs of dropped transactions, and of those that a reorg left behind. */
function keptBlobs({ blobs, tree, pool }: ChainState): BlobStore {
  return blobs.filter(
    ({ transaction }) =>
      transactionPlace(tree, transaction) !== undefined ||
      pooledByHash(pool, transaction) !== undefined,
  )
}
