// Encodes transactions: mined, pending, and in the pool.
import { ZERO_HASH } from '../../core/hex.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import type { Header } from '../../protocol/blocks/header.ts'
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

export interface TransactionView extends Shortened {
  readonly transaction: Transaction
  /** Undefined while pending. */
  readonly place: TransactionPlace | undefined
}

export const accessListShape: Encoder<readonly AccessListEntry[]> = list(
  plainShape('access list entry', { address, storageKeys: list(hash) }),
)

const authorizationList: Encoder<readonly Authorization[]> = list(
  plainShape('authorization', {
    chainId: quantityResult,
    address,
    nonce: quantityResult,
    yParity: quantityResult,
    r: quantityResult,
    s: quantityResult,
  }),
)

/** A transaction (spec 2.3) with the members of its type, and its block's time (execution-apis). */
export const transactionFields: Readonly<Record<string, ShapeField<TransactionView>>> = {
  blockHash: field(nullable(hash), ({ place }) => place?.record.block.hash),
  blockNumber: field(nullable(quantityResult), ({ place }) => headerOf(place)?.number),
  blockTimestamp: field(nullable(quantityResult), ({ place }) => headerOf(place)?.timestamp),
  transactionIndex: field(nullable(quantityResult), ({ place }) => place?.index),
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

export const transactionShape: Encoder<TransactionView> = shape('transaction', transactionFields)

/** An entry of `eth_pendingTransactions`: zero hash and index (spec 2.3), no block number. */
export const pendingTransactionShape: Encoder<TransactionView> = shape('pending transaction', {
  ...transactionFields,
  blockHash: field(hash, () => ZERO_HASH),
  transactionIndex: field(quantityResult, () => 0n),
})

/** An entry of `txpool_content`: a transaction without a position. */
export const poolEntryShape: Encoder<Transaction> = encodedAs(transactionShape, viewOfPooled)

export function viewOfPooled(transaction: Transaction): TransactionView {
  return { transaction, place: undefined }
}

/** A transaction in the pending block has no position yet. */
export function viewOfPlaced(at: TransactionPlace, pending: boolean): TransactionView {
  return { transaction: executedAt(at).transaction, place: pending ? undefined : at }
}

function headerOf(place: TransactionPlace | undefined): Header | undefined {
  return place?.record.block.header
}

/** Wei per gas: the price paid, or the maximum while pending and before london. */
function paidPrice({ transaction, place }: TransactionView): bigint {
  const baseFee = headerOf(place)?.baseFeePerGas
  return baseFee === undefined ? transaction.maxFeePerGas : effectiveGasPrice(transaction, baseFee)
}
