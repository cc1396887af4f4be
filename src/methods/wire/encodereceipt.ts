// Encodes receipts and logs, and receipts as the bytes that are hashed.
import type { LogEntry } from '../../node/events/logs.ts'
import {
  type BlockRecord,
  type ExecutedTransaction,
  logsBefore,
} from '../../node/ledger/blockrecord.ts'
import type { TransactionPlace } from '../../node/ledger/blocktree.ts'
import { encodeReceipt } from '../../protocol/blocks/receipt.ts'
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
  blockNumber: placed(quantityResult, (entry) => entry.block.header.number),
  blockTimestamp: placed(quantityResult, (entry) => entry.block.header.timestamp),
  address: field(address, ({ log }) => log.address),
  data: field(data, ({ log }) => log.data),
  topics: field(list(hash), ({ log }) => log.topics),
})

export const logsShape: Encoder<readonly LogEntry[]> = list(logShape, 'log')

function placed<V>(encoder: Encoder<V>, get: (entry: LogEntry) => V): ShapeField<LogEntry> {
  return field(nullable(encoder), (entry) => (entry.pending === true ? null : get(entry)))
}

export interface ReceiptView
  extends TransactionPlace,
    Pick<ExecutedTransaction, 'transaction' | 'receipt'>,
    Shortened {
  /** The block's blob gas price in wei, in receipts that show it without blobs. */
  readonly blobPrice?: bigint | undefined
  /** Of its block in seconds, in receipts that show it. */
  readonly timestamp?: bigint | undefined
  /** On forks of Arbitrum: the L1 block that its contracts saw. */
  readonly belowNumber?: bigint | undefined
}

/** With `status` from byzantium on, with `root` before (spec 2.4). */
export const receiptFields: Readonly<Record<string, ShapeField<ReceiptView>>> = {
  transactionHash: field(hash, ({ transaction }) => transaction.hash),
  transactionIndex: field(quantityResult, ({ index }) => index),
  blockHash: field(hash, ({ record }) => record.block.hash),
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  from: field(address, ({ transaction }) => transaction.from),
  to: field(nullable(address), ({ transaction }) => transaction.to),
  cumulativeGasUsed: field(quantityResult, ({ receipt }) => receipt.cumulativeGasUsed),
  gasUsed: field(quantityResult, ({ receipt }) => receipt.gasUsed),
  // as the tracers name them; gasUsed counts both, after refunds
  executionGasUsed: fieldIfAny(quantityResult, ({ receipt }) => receipt.blockGas?.execution),
  stateGasUsed: fieldIfAny(quantityResult, ({ receipt }) => receipt.blockGas?.state),
  contractAddress: field(nullable(address), ({ receipt }) => receipt.contractAddress),
  logs: field(list(logShape), logsOfView),
  logsBloom: field(data, ({ receipt }) => receipt.logsBloom),
  type: fieldUnless('type', quantityResult, ({ receipt }) => receipt.type),
  effectiveGasPrice: fieldUnless(
    'effectiveGasPrice',
    quantityResult,
    ({ receipt }) => receipt.effectiveGasPrice,
  ),
  status: fieldIfAny(quantityResult, ({ receipt: { root, status } }) =>
    root === undefined ? BigInt(status) : undefined,
  ),
  root: fieldIfAny(hash, ({ receipt }) => receipt.root),
  blobGasUsed: fieldIfAny(quantityResult, ({ receipt }) => receipt.blobGas?.used),
  blobGasPrice: fieldIfAny(
    quantityResult,
    ({ receipt, blobPrice }) => receipt.blobGas?.price ?? blobPrice,
  ),
  blockTimestamp: fieldIfAny(plainInteger, ({ timestamp }) => timestamp),
  l1BlockNumber: fieldIfAny(quantityResult, ({ belowNumber }) => belowNumber),
  // nothing is posted to L1, so there is no fee
  gasUsedForL1: fieldIfAny(quantityResult, ({ belowNumber }) =>
    belowNumber === undefined ? undefined : 0n,
  ),
}

export const receiptShape: Encoder<ReceiptView> = shape('receipt', receiptFields)

/** Their indexes count over the whole block. */
function logsOfView({ record, index, transaction, receipt }: ReceiptView): readonly LogEntry[] {
  const before = logsBefore(record, index)
  return receipt.logs.map((log, i) => ({
    log,
    block: record.block,
    transactionHash: transaction.hash,
    transactionIndex: index,
    logIndex: before + i,
    removed: false,
  }))
}

export function encodedReceipts({ executed }: BlockRecord): readonly Uint8Array[] {
  return executed.map(({ receipt }) => encodeReceipt(receipt))
}
