// Waiting transactions as they travel between peers: which do, in what form, and how much of them there is.
import type { Hash } from '../../core/hex.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { keptSidecar } from '../../node/pool/blobstore.ts'
import { type PooledTransaction, pooledByHash } from '../../node/pool/pool.ts'
import { type BlobSidecar, encodeSent } from '../../protocol/transactions/sidecar.ts'
import { isImpersonated, type Transaction } from '../../protocol/transactions/transaction.ts'
import { MAX_MESSAGE } from '../protocol/messages.ts'

/** Bytes of a transaction that travels: its message has a head. */
const MAX_TRANSACTION: number = MAX_MESSAGE - 64

/**
 * True for what peers are told of: not for one that is mined under conditions, which stay here, nor for one whose blobs
 * are no longer kept, nor for what no message holds, nor for one of an impersonated sender under a network's rules.
 */
export function travels(
  state: Pick<ChainState, 'blobs' | 'config'>,
  { transaction, conditions }: PooledTransaction,
): boolean {
  if (conditions !== undefined) return false
  if (isImpersonated(transaction) && state.config.ruleset === 'network') return false
  const sidecar = keptSidecar(state.blobs, transaction.hash)
  if (transaction.type === 3 && sidecar === undefined) return false
  return sizeOf(transaction, sidecar) <= MAX_TRANSACTION
}

/** A transaction as it is sent to a peer: with its blobs (EIP-4844), or the sender in place of a signature. */
export function encodeTravelling(
  { blobs }: Pick<ChainState, 'blobs'>,
  transaction: Transaction,
): Uint8Array {
  const sidecar = keptSidecar(blobs, transaction.hash)
  return sidecar === undefined ? transaction.raw : encodeSent(transaction, sidecar)
}

/** True when all of a transaction is here: one of a peer's block comes without its blobs. */
export function isHere({ pool, tree, blobs }: ChainState, hash: Hash): boolean {
  const place = transactionPlace(tree, hash)
  const mined = place?.record.block.transactions[place.index]
  const known = pooledByHash(pool, hash)?.transaction ?? mined
  if (known === undefined) return false
  return known.type !== 3 || keptSidecar(blobs, hash) !== undefined
}

/** Bytes of all that waits, with its blobs. */
export function waitingBytes({ pool, blobs }: Pick<ChainState, 'pool' | 'blobs'>): number {
  let bytes = 0
  for (const [, { transaction }] of pool.byHash.entries()) bytes += transaction.raw.length
  for (const { transaction, sidecar } of blobs) {
    if (pooledByHash(pool, transaction) !== undefined) bytes += sidecarSize(sidecar)
  }
  return bytes
}

function sizeOf({ raw }: Transaction, sidecar: BlobSidecar | undefined): number {
  return raw.length + (sidecar === undefined ? 0 : sidecarSize(sidecar))
}

/** Bytes of its parts, and of the heads that RLP puts before each and before the lists of them. */
function sidecarSize({ blobs, commitments, proofs }: BlobSidecar): number {
  const parts = [...blobs, ...commitments, ...proofs]
  return parts.reduce((sum, { length }) => sum + length + 4, 32)
}
