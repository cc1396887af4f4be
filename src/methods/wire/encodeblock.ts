// Blocks, transactions, receipts and logs as clients see them.

import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import type { LogEntry } from '../../node/events/logs.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import type { TransactionPlace } from '../../node/ledger/blocktree.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import {
  cumulativeDifficulty,
  type Header,
  hashHeader,
  sealBlock,
  type Withdrawal,
} from '../../protocol/block.ts'
import { effectiveGasPrice } from '../../protocol/fees.ts'
import type { AccessListEntry, Authorization, Transaction } from '../../protocol/transaction.ts'
import { address, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { logShape } from './encodelog.ts'
import {
  encodedAs,
  type Field,
  field,
  fieldIfAny,
  fieldUnless,
  plainInteger,
  quantityResult,
  type Shortened,
  shape,
} from './encodeobject.ts'

/** Where a transaction stands for whoever looks at it: `undefined` while it is pending. */
export interface Place {
  readonly blockHash: Hash
  readonly blockNumber: bigint
  /** Seconds since 1970. */
  readonly blockTimestamp: bigint
  readonly index: number
  /** Wei per gas; undefined before london. */
  readonly baseFee: bigint | undefined
}

/** A transaction, and where it stands. */
export interface TransactionView extends Shortened {
  readonly transaction: Transaction
  readonly place: Place | undefined
}

/** Members of a block that nodes leave open while it is pending. */
export type PendingMember = 'number' | 'hash' | 'nonce' | 'mixHash' | 'logsBloom' | 'miner'

/** How blocks are told where nodes differ. */
export interface BlockForm {
  /** Members of the pending block that are null. */
  readonly pendingNulls: readonly PendingMember[]
  /** Whether there are totalDifficulty and cumulativeDifficulty. */
  readonly hasTotals: boolean
}

/** Spec 2.2. */
export const OWN_FORM: BlockForm = {
  pendingNulls: ['number', 'hash', 'nonce', 'logsBloom'],
  hasTotals: true,
}

/** A block or an uncle, ready to be written. */
export interface BlockView {
  readonly header: Header
  readonly hash: Hash
  /** Members that are null, as the block is pending. */
  readonly nulls: readonly PendingMember[]
  /** Bytes of RLP. */
  readonly size: number
  /** Undefined, as the next, where it is not told. */
  readonly totalDifficulty: bigint | undefined
  /** The block's own difficulty and its uncles'. */
  readonly cumulativeDifficulty: bigint | undefined
  readonly transactions: readonly Hash[] | readonly TransactionView[]
  readonly uncles: readonly Hash[]
  readonly withdrawals: readonly Withdrawal[] | undefined
}

export const accessListShape: Encoder<readonly AccessListEntry[]> = list(
  shape<AccessListEntry>('access list entry', {
    address: field(address, (entry) => entry.address),
    storageKeys: field(list(hash), (entry) => entry.storageKeys),
  }),
)

const authorizationList: Encoder<readonly Authorization[]> = list(
  shape<Authorization>('authorization', {
    chainId: field(quantityResult, (authorization) => authorization.chainId),
    address: field(address, (authorization) => authorization.address),
    nonce: field(quantityResult, (authorization) => authorization.nonce),
    yParity: field(quantityResult, (authorization) => BigInt(authorization.yParity)),
    r: field(quantityResult, (authorization) => authorization.r),
    s: field(quantityResult, (authorization) => authorization.s),
  }),
)

/** Members that depend on nothing but the transaction itself and the base fee it paid. */
const transactionFields: Readonly<Record<string, Field<TransactionView>>> = {
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
  type: fieldUnless('type', quantityResult, ({ transaction }) => BigInt(transaction.type)),
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

/** The members of a transaction (spec 2.3), those of its type included, and its block's time (execution-apis). */
export const placedTransactionFields: Readonly<Record<string, Field<TransactionView>>> = {
  blockHash: field(nullable(hash), ({ place }) => place?.blockHash ?? null),
  blockNumber: field(nullable(quantityResult), ({ place }) => place?.blockNumber ?? null),
  blockTimestamp: field(nullable(quantityResult), ({ place }) => place?.blockTimestamp ?? null),
  transactionIndex: field(nullable(quantityResult), ({ place }) => orNull(place?.index)),
  ...transactionFields,
}

/** A transaction. */
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

/** An entry of `txpool_content`: a transaction without a place. */
export const poolEntryShape: Encoder<Transaction> = encodedAs(transactionShape, viewOfPooled)

/** A transaction whose receipt is written. */
export interface ReceiptView extends TransactionPlace, Shortened {
  /** What blobs cost in its block, where receipts of transactions without blobs tell it too: wei per gas. */
  readonly blobPrice?: bigint | undefined
  /** Of its block, where receipts tell it: seconds. */
  readonly timestamp?: bigint | undefined
}

/** A receipt (spec 2.4): with `status` from byzantium on, with `root` before. */
export const receiptShape: Encoder<ReceiptView> = shape<ReceiptView>('receipt', {
  transactionHash: field(hash, (place) => executedAt(place).transaction.hash),
  transactionIndex: field(quantityResult, ({ index }) => BigInt(index)),
  blockHash: field(hash, ({ record }) => record.block.hash),
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  from: field(address, (place) => executedAt(place).transaction.from),
  to: field(nullable(address), (place) => executedAt(place).transaction.to),
  cumulativeGasUsed: field(quantityResult, (place) => executedAt(place).receipt.cumulativeGasUsed),
  gasUsed: field(quantityResult, (place) => executedAt(place).receipt.gasUsed),
  contractAddress: field(
    nullable<Address>(address),
    (place) => executedAt(place).receipt.contractAddress,
  ),
  logs: field(list(logShape), logsOfPlace),
  logsBloom: field(data, (place) => executedAt(place).receipt.logsBloom),
  type: fieldUnless('type', quantityResult, (place) => BigInt(executedAt(place).receipt.type)),
  effectiveGasPrice: fieldUnless(
    'effectiveGasPrice',
    quantityResult,
    (place) => executedAt(place).receipt.effectiveGasPrice,
  ),
  status: fieldIfAny(quantityResult, (place) => {
    const { receipt } = executedAt(place)
    return receipt.root === undefined ? BigInt(receipt.status) : undefined
  }),
  root: fieldIfAny(hash, (place) => executedAt(place).receipt.root),
  blobGasUsed: fieldIfAny(quantityResult, (place) => executedAt(place).receipt.blobGas?.used),
  blobGasPrice: fieldIfAny(
    quantityResult,
    (view) => executedAt(view).receipt.blobGas?.price ?? view.blobPrice,
  ),
  blockTimestamp: fieldIfAny(plainInteger, ({ timestamp }) => timestamp),
})

/** What a block's hash is taken of, and the hash: the members of `newHeads` notifications. */
const headerFields: Readonly<Record<string, Field<BlockView>>> = {
  number: openField('number', quantityResult, ({ header }) => header.number),
  hash: openField('hash', hash, (block) => block.hash),
  parentHash: field(hash, ({ header }) => header.parentHash),
  nonce: openField('nonce', data, ({ header }) => header.nonce),
  mixHash: openField('mixHash', hash, ({ header }) => header.mixHash),
  sha3Uncles: field(hash, ({ header }) => header.sha3Uncles),
  logsBloom: openField('logsBloom', data, ({ header }) => header.logsBloom),
  transactionsRoot: field(hash, ({ header }) => header.transactionsRoot),
  stateRoot: field(hash, ({ header }) => header.stateRoot),
  receiptsRoot: field(hash, ({ header }) => header.receiptsRoot),
  miner: openField('miner', address, ({ header }) => header.miner),
  difficulty: field(quantityResult, ({ header }) => header.difficulty),
  extraData: field(data, ({ header }) => header.extraData),
  gasLimit: field(quantityResult, ({ header }) => header.gasLimit),
  gasUsed: field(quantityResult, ({ header }) => header.gasUsed),
  timestamp: field(quantityResult, ({ header }) => header.timestamp),
  baseFeePerGas: fieldIfAny(quantityResult, ({ header }) => header.baseFeePerGas),
  withdrawalsRoot: fieldIfAny(hash, ({ header }) => header.withdrawalsRoot),
  blobGasUsed: fieldIfAny(quantityResult, ({ header }) => header.blobGasUsed),
  excessBlobGas: fieldIfAny(quantityResult, ({ header }) => header.excessBlobGas),
  parentBeaconBlockRoot: fieldIfAny(hash, ({ header }) => header.parentBeaconBlockRoot),
  requestsHash: fieldIfAny(hash, ({ header }) => header.requestsHash),
}

/** A member that may be null while the block is pending. */
function openField<V>(
  name: PendingMember,
  encoder: Encoder<V>,
  get: (block: BlockView) => V,
): Field<BlockView> {
  return field(nullable(encoder), (block) => (block.nulls.includes(name) ? null : get(block)))
}

/** A header, as `newHeads` subscribers are told of it. */
export const headerShape: Encoder<BlockView> = shape('header', headerFields)

/** The transactions of a block: hashes, or whole objects. */
const transactionsOfBlock: Encoder<BlockView['transactions']> = {
  name: 'transactions',
  json: { type: 'array', items: { anyOf: [hash.json, transactionShape.json] } },
  encode: (transactions) =>
    transactions.map((each) =>
      typeof each === 'string' ? hash.encode(each) : transactionShape.encode(each),
    ),
}

export const withdrawalShape: Encoder<Withdrawal> = shape<Withdrawal>('withdrawal', {
  index: field(quantityResult, ({ index }) => index),
  validatorIndex: field(quantityResult, ({ validatorIndex }) => validatorIndex),
  address: field(address, (withdrawal) => withdrawal.address),
  amount: field(quantityResult, ({ amountGwei }) => amountGwei),
})

/** The members of a block. */
export const blockFields: Readonly<Record<string, Field<BlockView>>> = {
  ...headerFields,
  totalDifficulty: fieldIfAny(quantityResult, (block) => block.totalDifficulty),
  cumulativeDifficulty: fieldIfAny(quantityResult, (block) => block.cumulativeDifficulty),
  size: field(quantityResult, (block) => BigInt(block.size)),
  transactions: field(transactionsOfBlock, (block) => block.transactions),
  uncles: field(list(hash), (block) => block.uncles),
  withdrawals: fieldIfAny(list(withdrawalShape), (block) => block.withdrawals),
}

/** A block (spec 2.2) with all members that its hash is taken of. */
export const blockShape: Encoder<BlockView> = shape('block', blockFields)

/** A block with its transactions as hashes or in full. */
export function viewOfBlock(
  record: BlockRecord,
  {
    pending,
    full,
    form = OWN_FORM,
  }: { readonly pending: boolean; readonly full: boolean; readonly form?: BlockForm },
): BlockView {
  const { header, hash: blockHash, size, transactions, uncles } = record.block
  const whole = (_: Transaction, index: number): TransactionView =>
    viewOfPlaced({ record, index }, pending)
  return {
    header,
    hash: blockHash,
    nulls: pending ? form.pendingNulls : [],
    size,
    totalDifficulty: form.hasTotals ? record.totalDifficulty : undefined,
    cumulativeDifficulty: form.hasTotals ? cumulativeDifficulty(record.block) : undefined,
    transactions: full ? transactions.map(whole) : transactions.map((each) => each.hash),
    uncles: uncles.map(hashHeader),
    withdrawals: header.withdrawalsRoot === undefined ? undefined : record.block.withdrawals,
  }
}

/**
 * An uncle, which has no transactions of its own (spec 2.2).
 * @param weight difficulty of the uncle with its own uncles, and of all blocks up to and including it
 */
export function viewOfUncle(
  uncle: Header,
  weight: Pick<BlockView, 'cumulativeDifficulty' | 'totalDifficulty'>,
): BlockView {
  const block = sealBlock(uncle, [], [])
  return {
    ...weight,
    header: uncle,
    hash: block.hash,
    nulls: [],
    size: block.size,
    transactions: [],
    uncles: [],
    withdrawals: uncle.withdrawalsRoot === undefined ? undefined : [],
  }
}

/** A transaction that waits in the pool. */
export function viewOfPooled(transaction: Transaction): TransactionView {
  return { transaction, place: undefined }
}

/** A transaction of a block; one of the pending block has no place yet. */
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

/** The logs of one transaction; their indexes count over the whole block. */
function logsOfPlace(place: TransactionPlace): readonly LogEntry[] {
  const { record, index } = place
  const before = record.executed
    .slice(0, index)
    .reduce((sum, { receipt }) => sum + receipt.logs.length, 0)
  return executedAt(place).receipt.logs.map((log, i) => ({
    log,
    record,
    transactionIndex: index,
    logIndex: before + i,
    removed: false,
  }))
}

/** Wei per gas: what was paid once mined, the highest that may be paid before. */
function paidPrice({ transaction, place }: TransactionView): bigint {
  return place?.baseFee === undefined
    ? transaction.maxFeePerGas
    : effectiveGasPrice(transaction, place.baseFee)
}

function orNull(index: number | undefined): bigint | null {
  return index === undefined ? null : BigInt(index)
}
