// Transactions and receipts as the node whose answers are given tells them.
import type { Hash } from '../../core/hex.ts'
import type { TransactionPlace } from '../../node/ledger/blocktree.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { blobFeeOf } from '../../node/sending/gasoracle.ts'
import type { BlockView } from '../wire/encodeblock.ts'
import type { ReceiptView } from '../wire/encodereceipt.ts'
import type { TransactionView } from '../wire/encodetransaction.ts'
import type { MethodContext } from './context.ts'

type Told = Pick<MethodContext, 'chain' | 'profile'>

/** The receipt of a mined transaction, with what receipts tell of its block. */
export function viewOfReceipt({ chain, profile }: Told, place: TransactionPlace): ReceiptView {
  const { header } = place.record.block
  const hardfork = chain.state.config.hardforkAt(header.number, header.timestamp)
  const without = profile.untold?.(executedAt(place).transaction, hardfork)
  const view = without === undefined ? place : { ...place, without }
  if (!profile.receiptsTellBlock) return view
  const blobPrice = header.excessBlobGas === undefined ? undefined : blobFeeOf(chain.state, header)
  return { ...view, blobPrice, timestamp: header.timestamp }
}

/** A block whose transactions are without what is not told of them. */
export function withShortened({ chain, profile }: Told, view: BlockView): BlockView {
  const { untold } = profile
  if (untold === undefined) return view
  const hardfork = chain.state.config.hardforkAt(view.header.number, view.header.timestamp)
  const transactions = (view.transactions as readonly (Hash | TransactionView)[]).map((each) =>
    typeof each === 'string' ? each : { ...each, without: untold(each.transaction, hardfork) },
  )
  return { ...view, transactions: transactions as BlockView['transactions'] }
}

/** A transaction without what is not told of it, in its block or in the next. */
export function shortened({ chain, profile }: Told, view: TransactionView): TransactionView {
  if (profile.untold === undefined) return view
  const { state, environment } = chain
  const { blockNumber: number, blockTimestamp: timestamp } = view.place ?? {}
  const hardfork =
    number === undefined || timestamp === undefined
      ? nextRules(state, environment.now()).hardfork
      : state.config.hardforkAt(number, timestamp)
  return { ...view, without: profile.untold(view.transaction, hardfork) }
}
