// Recent blobs of transactions, with their proofs.
import type { Hash } from '../../core/hex.ts'
import type { BlobSidecar } from '../../protocol/transactions/sidecar.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'

/** In the order of the transaction's blob hashes. */
interface KeptBlobs {
  readonly transaction: Hash
  readonly hashes: readonly Hash[]
  readonly sidecar: BlobSidecar
}

export type BlobStore = readonly KeptBlobs[]

/** Most blobs of a chain: 67 MB with their proofs. Snapshots may hold others. */
export const BLOB_LIMIT = 512

export function withBlobs(
  store: BlobStore,
  { hash, blobs: fields }: Transaction,
  sidecar: BlobSidecar,
): BlobStore {
  const kept: KeptBlobs = { transaction: hash, hashes: fields?.versionedHashes ?? [], sidecar }
  const all = [...store.filter(({ transaction }) => transaction !== hash), kept]
  let surplus = all.reduce((sum, { sidecar: { blobs } }) => sum + blobs.length, -BLOB_LIMIT)
  const first = all.findIndex((each) => {
    if (surplus <= 0) return true
    surplus -= each.sidecar.blobs.length
    return false
  })
  return all.slice(first)
}

export function keptSidecar(store: BlobStore, transaction: Hash): BlobSidecar | undefined {
  return store.find((each) => each.transaction === transaction)?.sidecar
}
