// Encodes receipts and logs, and receipts as the bytes that are hashed.

import type { LogEntry } from '../../node/events/logs.ts'
import { type BlockRecord, logBlockOf, logsBefore } from '../../node/ledger/blockrecord.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { encodeReceipt, type Receipt } from '../../protocol/blocks/receipt.ts'
import { address, boolean, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import {
  field,
  fieldIfAny,
  fieldUnless,
  plainInteger,
  quantityResult,
  type ShapeField,
  type Shortened,
  shape,
} from './encodeobject.ts'

/** A log (spec 2.5); its position is null in the pending block. */
export const logShape: Encoder<LogEntry> = shape<LogEntry>('log', {
  removed: field(boolean, (entry) => entry.removed),
  logIndex: placed(quantityResult, (entry) => entry.logIndex),
  transactionIndex: placed(quantityResult, (entry) => entry.transactionIndex),
  transactionHash: placed(hash, (entry) => entry.transactionHash),
  blockHash: placed(hash, (entry) => entry.block.hash),
  blockNumber: placed(quantityResult, (entry) => entry.block.number),
  blockTimestamp: placed(quantityResult, (entry) => entry.block.timestamp),
  address: field(address, ({ log }) => log.address),
  data: field(data, ({ log }) => log.data),
  topics: field(list(hash), ({ log }) => log.topics),
})

export const logsShape: Encoder<readonly LogEntry[]> = list(logShape, 'log')

function placed<V>(encoder: Encoder<V>, get: (entry: LogEntry) => V): ShapeField<LogEntry> {
  return field(nullable(encoder), (entry) => (entry.pending === true ? null : get(entry)))
}

export interface ReceiptView extends TransactionPlace, Shortened {
  /** The block's blob gas price in wei, in receipts that show it without blobs. */
  readonly blobPrice?: bigint | undefined
  /** Of its block in seconds, in receipts that show it. */
  readonly timestamp?: bigint | undefined
  /** On forks of Arbitrum: the L1 block that its contracts saw. */
  readonly belowNumber?: bigint | undefined
}

/** With `status` from byzantium on, with `root` before (spec 2.4). */
export const receiptFields: Readonly<Record<string, ShapeField<ReceiptView>>> = {
  transactionHash: field(hash, (place) => executedAt(place).transaction.hash),
  transactionIndex: field(quantityResult, ({ index }) => index),
  blockHash: field(hash, ({ record }) => record.block.hash),
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  from: field(address, (place) => executedAt(place).transaction.from),
  to: field(nullable(address), (place) => executedAt(place).transaction.to),
  cumulativeGasUsed: field(quantityResult, (place) => receiptOf(place).cumulativeGasUsed),
  gasUsed: field(quantityResult, (place) => receiptOf(place).gasUsed),
  // as the tracers name them; gasUsed counts both, after refunds
  executionGasUsed: fieldIfAny(quantityResult, (place) => receiptOf(place).blockGas?.execution),
  stateGasUsed: fieldIfAny(quantityResult, (place) => receiptOf(place).blockGas?.state),
  contractAddress: field(nullable(address), (place) => receiptOf(place).contractAddress),
  logs: field(list(logShape), logsOfPlace),
  logsBloom: field(data, (place) => receiptOf(place).logsBloom),
  type: fieldUnless('type', quantityResult, (place) => receiptOf(place).type),
  effectiveGasPrice: fieldUnless(
    'effectiveGasPrice',
    quantityResult,
    (place) => receiptOf(place).effectiveGasPrice,
  ),
  status: fieldIfAny(quantityResult, (place) => {
    const { receipt } = executedAt(place)
    return receipt.root === undefined ? BigInt(receipt.status) : undefined
  }),
  root: fieldIfAny(hash, (place) => receiptOf(place).root),
  blobGasUsed: fieldIfAny(quantityResult, (place) => receiptOf(place).blobGas?.used),
  blobGasPrice: fieldIfAny(
    quantityResult,
    (view) => receiptOf(view).blobGas?.price ?? view.blobPrice,
  ),
  blockTimestamp: fieldIfAny(plainInteger, ({ timestamp }) => timestamp),
  l1BlockNumber: fieldIfAny(quantityResult, (view) => view.belowNumber),
  // nothing is posted to L1, so there is no fee
  gasUsedForL1: fieldIfAny(quantityResult, (view) =>
    view.belowNumber === undefined ? undefined : 0n,
  ),
}

export const receiptShape: Encoder<ReceiptView> = shape('receipt', receiptFields)

function receiptOf(place: TransactionPlace): Receipt {
  return executedAt(place).receipt
}

/** Their indexes count over the whole block. */
function logsOfPlace(place: TransactionPlace): readonly LogEntry[] {
  const { record, index } = place
  const { transaction, receipt } = executedAt(place)
  const before = logsBefore(record, index)
  const block = logBlockOf(record.block)
  return receipt.logs.map((log, i) => ({
    log,
    block,
    transactionHash: transaction.hash,
    transactionIndex: index,
    logIndex: before + i,
    removed: false,
  }))
}

export function encodedReceipts({ executed }: BlockRecord): readonly Uint8Array[] {
  return executed.map(({ receipt }) => encodeReceipt(receipt))
}
