// Blobs that came with transactions, kept for a while.
import type { Hash } from '../../core/hex.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'

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
