// Transactions and receipts in the form of the node named by `--compat`.
import type { Hash } from '../../core/hex.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { blobFeeOf } from '../../node/sending/gasoracle.ts'
import type { BlockView } from '../wire/encodeblock.ts'
import type { ReceiptView } from '../wire/encodereceipt.ts'
import type { TransactionView } from '../wire/encodetransaction.ts'
import type { MethodContext } from './context.ts'

type ViewContext = Pick<MethodContext, 'chain' | 'profile'>

/** A receipt with the block members that the profile's receipts have. */
export function viewOfReceipt(
  { chain, profile }: ViewContext,
  place: TransactionPlace,
): ReceiptView {
  const { record, index } = place
  const { transaction, receipt } = executedAt(place)
  const { header } = record.block
  const { config } = chain.state
  const belowNumber = config.upstream?.seenNumber?.(header)
  const view = { record, index, transaction, receipt, belowNumber }
  const { omittedMembers, receiptsHaveBlockFields } = profile
  if (omittedMembers === undefined && !receiptsHaveBlockFields) return view
  const without = omittedMembers?.(transaction, config.hardforkAt(header.number, header.timestamp))
  if (!receiptsHaveBlockFields) return { ...view, without }
  const blobPrice = header.excessBlobGas === undefined ? undefined : blobFeeOf(chain.state, header)
  return { ...view, without, blobPrice, timestamp: header.timestamp }
}

/** Leaves out the transaction members that the profile omits. */
export function withShortened(context: ViewContext, view: BlockView): BlockView {
  if (context.profile.omittedMembers === undefined) return view
  const transactions = (view.transactions as readonly (Hash | TransactionView)[]).map((each) =>
    typeof each === 'string' ? each : shortened(context, each),
  )
  return { ...view, transactions: transactions as BlockView['transactions'] }
}

/** Leaves out members that the profile omits at the hardfork of its block, or of the next block while pending. */
export function shortened({ chain, profile }: ViewContext, view: TransactionView): TransactionView {
  if (profile.omittedMembers === undefined) return view
  const { state, environment } = chain
  const header = view.place?.record.block.header
  const hardfork =
    header === undefined
      ? nextRules(state, environment.now()).hardfork
      : state.config.hardforkAt(header.number, header.timestamp)
  return { ...view, without: profile.omittedMembers(view.transaction, hardfork) }
}
