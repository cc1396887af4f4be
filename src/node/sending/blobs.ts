// Blobs that came with transactions: proven before these enter the pool, and kept for a while.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { type BlobSidecar, checkSidecar } from '../../protocol/sidecar.ts'
import type { Transaction, UnsignedTransaction } from '../../protocol/transaction.ts'
import { requireBlobs, requireType } from '../../protocol/validity.ts'
import type { Chain } from '../chain/chain.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { nextRules } from '../mining/miner.ts'
import { pooledByHash } from '../pool/pool.ts'

/** The blobs of a transaction, in the order of its hashes. */
interface KeptBlobs {
  readonly transaction: Hash
  readonly hashes: readonly Hash[]
  readonly blobs: readonly Uint8Array[]
}

/** Blobs of the transactions that came last, the oldest first. Immutable. */
export type BlobStore = readonly KeptBlobs[]

/** Blobs that a chain keeps: 64 MB. What snapshots hold beyond that goes with them. */
export const BLOB_LIMIT = 512

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

/** The store with the blobs of one more transaction, without the oldest where they are too many. */
export function withBlobs(
  store: BlobStore,
  { hash, blobs: fields }: Transaction,
  blobs: readonly Uint8Array[],
): BlobStore {
  const kept: KeptBlobs = { transaction: hash, hashes: fields?.versionedHashes ?? [], blobs }
  const all = [...store.filter(({ transaction }) => transaction !== hash), kept]
  let surplus = all.reduce((sum, each) => sum + each.blobs.length, -BLOB_LIMIT)
  const first = all.findIndex((each) => {
    if (surplus <= 0) return true
    surplus -= each.blobs.length
    return false
  })
  return all.slice(first)
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
