// Which pool transactions are sent to peers, in what form, and their size.
import type { Hash } from '../../core/hex.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { keptSidecar } from '../../node/pool/blobstore.ts'
import { type PooledTransaction, pooledByHash } from '../../node/pool/pool.ts'
import { type BlobSidecar, encodeSent } from '../../protocol/transactions/sidecar.ts'
import { isImpersonated, type Transaction } from '../../protocol/transactions/transaction.ts'
import { MAX_MESSAGE } from '../protocol/messages.ts'

/** Bytes of a transaction that fits in a message with its framing. */
const MAX_TRANSACTION: number = MAX_MESSAGE - 64

/** False for conditional, incomplete or too large transactions, and for impersonated ones under a network's rules. */
export function travels(
  state: Pick<ChainState, 'blobs' | 'config'>,
  { transaction, conditions }: PooledTransaction,
): boolean {
  if (conditions !== undefined) return false
  if (isImpersonated(transaction) && state.config.ruleset === 'network') return false
  const sidecar = keptSidecar(state.blobs, transaction.hash)
  if (transaction.type === 3 && sidecar === undefined) return false
  return transaction.raw.length + (sidecar ? sidecarSize(sidecar) : 0) <= MAX_TRANSACTION
}

/** With blobs (EIP-4844), or the sender in place of a signature. */
export function encodeTravelling(
  { blobs }: Pick<ChainState, 'blobs'>,
  transaction: Transaction,
): Uint8Array {
  const sidecar = keptSidecar(blobs, transaction.hash)
  return sidecar === undefined ? transaction.raw : encodeSent(transaction, sidecar)
}

/** False for a transaction of a peer's block that came without its blobs. */
export function isHere({ pool, tree, blobs }: ChainState, hash: Hash): boolean {
  const place = transactionPlace(tree, hash)
  const mined = place?.record.block.transactions[place.index]
  const known = pooledByHash(pool, hash)?.transaction ?? mined
  if (known === undefined) return false
  return known.type !== 3 || keptSidecar(blobs, hash) !== undefined
}

export function waitingBytes({ pool, blobs }: Pick<ChainState, 'pool' | 'blobs'>): number {
  let bytes = 0
  for (const [, { transaction }] of pool.byHash.entries()) bytes += transaction.raw.length
  for (const { transaction, sidecar } of blobs) {
    if (pooledByHash(pool, transaction) !== undefined) bytes += sidecarSize(sidecar)
  }
  return bytes
}

function sidecarSize({ blobs, commitments, proofs }: BlobSidecar): number {
  const parts = [...blobs, ...commitments, ...proofs]
  return parts.reduce((sum, { length }) => sum + length + 4, 32)
}
