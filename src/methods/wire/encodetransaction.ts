// Encodes transactions: mined, pending, and in the pool.
import { type Hash, ZERO_HASH } from '../../core/hex.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { effectiveGasPrice } from '../../protocol/fees.ts'
import type {
  AccessListEntry,
  Authorization,
  Transaction,
} from '../../protocol/transactions/transaction.ts'
import { address, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import {
  encodedAs,
  field,
  fieldIfAny,
  fieldUnless,
  plainShape,
  quantityResult,
  type ShapeField,
  type Shortened,
  shape,
} from './encodeobject.ts'

/** A mined transaction's position; `undefined` while pending. */
interface MinedPosition {
  readonly blockHash: Hash
  readonly blockNumber: bigint
  /** Seconds since 1970. */
  readonly blockTimestamp: bigint
  readonly index: number
  /** Wei per gas; undefined before london. */
  readonly baseFee: bigint | undefined
}

export interface TransactionView extends Shortened {
  readonly transaction: Transaction
  readonly place: MinedPosition | undefined
}

export const accessListShape: Encoder<readonly AccessListEntry[]> = list(
  plainShape('access list entry', { address, storageKeys: list(hash) }),
)

const authorizationList: Encoder<readonly Authorization[]> = list(
  shape<Authorization>('authorization', {
    chainId: field(quantityResult, (authorization) => authorization.chainId),
    address: field(address, (authorization) => authorization.address),
    nonce: field(quantityResult, (authorization) => authorization.nonce),
    yParity: field(quantityResult, (authorization) => authorization.yParity),
    r: field(quantityResult, (authorization) => authorization.r),
    s: field(quantityResult, (authorization) => authorization.s),
  }),
)

/** Members that depend only on the transaction and the base fee it paid. */
const transactionFields: Readonly<Record<string, ShapeField<TransactionView>>> = {
  from: field(address, ({ transaction }) => transaction.from),
  gas: field(quantityResult, ({ transaction }) => transaction.gasLimit),
  gasPrice: field(quantityResult, paidPrice),
  maxFeePerGas: fieldIfAny(quantityResult, ({ transaction }) =>
    transaction.type >= 2 ? transaction.maxFeePerGas : undefined,
  ),
  maxPriorityFeePerGas: fieldIfAny(quantityResult, ({ transaction }) =>
    transaction.type >= 2 ? transaction.maxPriorityFeePerGas : undefined,
  ),
  hash: field(hash, ({ transaction }) => transaction.hash),
  input: field(data, ({ transaction }) => transaction.data),
  nonce: field(quantityResult, ({ transaction }) => transaction.nonce),
  to: field(nullable(address), ({ transaction }) => transaction.to),
  value: field(quantityResult, ({ transaction }) => transaction.value),
  type: fieldUnless('type', quantityResult, ({ transaction }) => transaction.type),
  chainId: fieldUnless('chainId', quantityResult, ({ transaction }) => transaction.chainId),
  accessList: fieldIfAny(accessListShape, ({ transaction }) =>
    transaction.type >= 1 ? transaction.accessList : undefined,
  ),
  authorizationList: fieldIfAny(authorizationList, ({ transaction }) =>
    transaction.type === 4 ? transaction.authorizationList : undefined,
  ),
  maxFeePerBlobGas: fieldIfAny(
    quantityResult,
    ({ transaction }) => transaction.blobs?.maxFeePerBlobGas,
  ),
  blobVersionedHashes: fieldIfAny(
    list(hash),
    ({ transaction }) => transaction.blobs?.versionedHashes,
  ),
  v: field(quantityResult, ({ transaction }) => transaction.v),
  r: field(quantityResult, ({ transaction }) => transaction.r),
  s: field(quantityResult, ({ transaction }) => transaction.s),
  yParity: fieldIfAny(quantityResult, ({ transaction }) =>
    transaction.type >= 1 ? transaction.v : undefined,
  ),
}

/** A transaction (spec 2.3) with the members of its type, and its block's time (execution-apis). */
export const placedTransactionFields: Readonly<Record<string, ShapeField<TransactionView>>> = {
  blockHash: field(nullable(hash), ({ place }) => place?.blockHash ?? null),
  blockNumber: field(nullable(quantityResult), ({ place }) => place?.blockNumber ?? null),
  blockTimestamp: field(nullable(quantityResult), ({ place }) => place?.blockTimestamp ?? null),
  transactionIndex: field(nullable(quantityResult), ({ place }) =>
    place === undefined ? null : BigInt(place.index),
  ),
  ...transactionFields,
}

export const transactionShape: Encoder<TransactionView> = shape(
  'transaction',
  placedTransactionFields,
)

/** An entry of `eth_pendingTransactions`: zero hash and index (spec 2.3), no block number. */
export const pendingTransactionShape: Encoder<Transaction> = encodedAs(
  shape<TransactionView>('pending transaction', {
    blockHash: field(hash, () => ZERO_HASH),
    blockNumber: field(nullable(quantityResult), () => null),
    blockTimestamp: field(nullable(quantityResult), () => null),
    transactionIndex: field(quantityResult, () => 0n),
    ...transactionFields,
  }),
  viewOfPooled,
)

/** An entry of `txpool_content`: a transaction without a position. */
export const poolEntryShape: Encoder<Transaction> = encodedAs(transactionShape, viewOfPooled)

export function viewOfPooled(transaction: Transaction): TransactionView {
  return { transaction, place: undefined }
}

/** A transaction in the pending block has no position yet. */
export function viewOfPlaced(at: TransactionPlace, pending: boolean): TransactionView {
  const { transaction } = executedAt(at)
  if (pending) return viewOfPooled(transaction)
  const { hash: blockHash, header } = at.record.block
  const place = {
    blockHash,
    blockNumber: header.number,
    blockTimestamp: header.timestamp,
    index: at.index,
    baseFee: header.baseFeePerGas,
  }
  return { transaction, place }
}

/** Wei per gas: the price paid, or the maximum while pending. */
function paidPrice({ transaction, place }: TransactionView): bigint {
  return place?.baseFee === undefined
    ? transaction.maxFeePerGas
    : effectiveGasPrice(transaction, place.baseFee)
}
