// Encodes blocks, transactions and operations for the Otterscan explorer.
import type { Address, Hash } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { rewardsIn } from '../../node/mining/rewards.ts'
import { address, asJson, boolean, data, hash, list, nullable, text } from '../../rpc/primitives.ts'
import type { Encoder, Json } from '../../rpc/schema.ts'
import { type BlockView, blockFields, viewOfBlock } from './encodeblock.ts'
import { field, plain, quantityResult, reached, type ShapeField, shape } from './encodeobject.ts'
import { type ReceiptView, receiptShape } from './encodereceipt.ts'
import { type TransactionView, transactionShape, viewOfPlaced } from './encodetransaction.ts'

/** The block reward. */
interface Issuance {
  readonly blockReward: bigint
  readonly uncleReward: bigint
}

interface BlockDetails {
  readonly view: BlockView
  readonly issuance: Issuance
  /** Wei that the block's transactions paid. */
  readonly totalFees: bigint
}

interface BlockPage {
  readonly view: BlockView
  readonly places: readonly ReceiptView[]
}

export interface SearchPage {
  readonly places: readonly ReceiptView[]
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** A transfer, creation or destruction within a transaction. */
export interface InternalOperation {
  /** 0: a transfer, 1: a destruction, 2: CREATE, 3: CREATE2. */
  readonly type: 0 | 1 | 2 | 3
  readonly from: Address
  readonly to: Address
  readonly value: bigint
}

export interface TracedCall {
  readonly type: string
  readonly depth: number
  readonly from: Address
  readonly to: Address | null
  /** Null for calls that move no ether. */
  readonly value: bigint | null
  readonly input: Uint8Array
  readonly output: Uint8Array
}

const count: Encoder<number> = asJson('number', { title: 'number', type: 'integer' })

const { transactions: _transactions, logsBloom: _logsBloom, ...plainBlockFields } = blockFields

/** A block with its transaction count, without transactions and bloom. */
const leanBlockFields: Readonly<Record<string, ShapeField<BlockView>>> = {
  ...plainBlockFields,
  logsBloom: field(nullable(data), () => null),
  transactionCount: field(count, ({ transactions }) => transactions.length),
}

const issuanceShape: Encoder<Issuance> = shape<Issuance>('issuance', {
  ...plain({ blockReward: quantityResult, uncleReward: quantityResult }),
  issuance: field(quantityResult, ({ blockReward, uncleReward }) => blockReward + uncleReward),
})

export const blockDetails: Encoder<BlockDetails> = shape<BlockDetails>('block details', {
  block: field(shape('block without transactions', leanBlockFields), ({ view }) => view),
  ...plain({ issuance: issuanceShape, totalFees: quantityResult }),
})

/** With the input cut after its selector: lists show no more. */
const briefTransaction: Encoder<TransactionView> = changed(transactionShape, (transaction) => ({
  ...transaction,
  input: String(transaction.input).slice(0, 10),
}))

const briefReceipt: Encoder<ReceiptView> = {
  ...changed(receiptShape, (receipt) => ({ ...receipt, logs: null, logsBloom: null })),
  json: { title: 'receipt without logs', type: 'object' },
}

/** With its block's time, in seconds. */
const timedReceipt: Encoder<ReceiptView> = {
  name: 'receipt with time',
  json: { title: 'receipt with time', type: 'object', required: ['timestamp'] },
  encode: (place) => ({
    ...(receiptShape.encode(place) as Record<string, Json>),
    timestamp: quantityResult.encode(place.record.block.header.timestamp),
  }),
}

export const blockPage: Encoder<BlockPage> = shape<BlockPage>('page of a block', {
  fullblock: field(
    shape<BlockPage>('block with some transactions', {
      ...reached(leanBlockFields, ({ view }: BlockPage) => view),
      transactions: field(list(briefTransaction), ({ places }) =>
        places.map((place) => viewOfPlaced(place, false)),
      ),
    }),
    (page) => page,
  ),
  receipts: field(list(briefReceipt), ({ places }) => places),
})

export const searchPage: Encoder<SearchPage> = shape<SearchPage>('page of a search', {
  txs: field(list(transactionShape), ({ places }) =>
    places.map((place) => viewOfPlaced(place, false)),
  ),
  receipts: field(list(timedReceipt), ({ places }) => places),
  firstPage: field(boolean, ({ isFirst }) => isFirst),
  lastPage: field(boolean, ({ isLast }) => isLast),
})

export const internalOperation: Encoder<InternalOperation> = shape<InternalOperation>(
  'internal operation',
  {
    ...plain({ type: count, from: address, to: address, value: quantityResult }),
  },
)

export const tracedCall: Encoder<TracedCall> = shape<TracedCall>('traced call', {
  type: field(text, ({ type }) => type),
  depth: field(count, ({ depth }) => depth),
  from: field(address, ({ from }) => from),
  to: field(nullable(address), ({ to }) => to),
  value: field(nullable(quantityResult), ({ value }) => value),
  input: field(data, ({ input }) => input),
  output: field(data, ({ output }) => output),
})

export const creation: Encoder<{ readonly hash: Hash; readonly creator: Address }> = shape(
  'creation',
  {
    hash: field(hash, (each: { readonly hash: Hash; readonly creator: Address }) => each.hash),
    creator: field(address, (each) => each.creator),
  },
)

export function detailsOf(chain: Chain, record: BlockRecord | undefined): BlockDetails | null {
  if (record === undefined) return null
  const totalFees = record.executed.reduce(
    (sum, { receipt }) => sum + receipt.gasUsed * receipt.effectiveGasPrice,
    0n,
  )
  const view = viewOfBlock(record, chain.state.config.upstream)
  return { view, totalFees, issuance: issuanceOf(chain, record) }
}

/** Page 0 has a block's last transactions, as the explorer shows the newest first. */
export function pageOf(
  { state }: Chain,
  record: BlockRecord | undefined,
  page: number,
  size: number,
): BlockPage | null {
  if (record === undefined) return null
  const end = Math.max(0, record.executed.length - page * size)
  const start = Math.max(0, end - size)
  const view = viewOfBlock(record, state.config.upstream)
  const places = record.executed
    .slice(start, end)
    .map((_, i) => ({ record, index: start + i, belowNumber: view.belowNumber }))
  return { view, places }
}

function issuanceOf({ state }: Chain, { block: { header, uncles } }: BlockRecord): Issuance {
  const { number, timestamp } = header
  const hardfork = state.config.hardforkAt(number, timestamp)
  const rewards = rewardsIn(state.config, hardfork, header, uncles).map(({ amount }) => amount)
  const blockReward = rewards.at(-1) ?? 0n
  const uncleReward = rewards.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)
  return { blockReward, uncleReward }
}

function changed<T>(
  encoder: Encoder<T>,
  change: (object: Readonly<Record<string, Json>>) => Record<string, Json>,
): Encoder<T> {
  return {
    ...encoder,
    encode: (value) => change(encoder.encode(value) as Record<string, Json>),
  }
}
