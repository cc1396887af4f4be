// Receipts as the node whose answers are given tells them.
import type { TransactionPlace } from '../../node/blocktree.ts'
import { blobFeeOf } from '../../node/gasoracle.ts'
import type { MethodContext } from '../context.ts'
import type { ReceiptView } from '../shapes.ts'

/** The receipt of a mined transaction, with what receipts tell of its block. */
export function viewOfReceipt(
  { chain, profile }: Pick<MethodContext, 'chain' | 'profile'>,
  place: TransactionPlace,
): ReceiptView {
  if (!profile.receiptsTellBlock) return place
  const { header } = place.record.block
  const blobPrice = header.excessBlobGas === undefined ? undefined : blobFeeOf(chain.state, header)
  return { ...place, blobPrice, timestamp: header.timestamp }
}
