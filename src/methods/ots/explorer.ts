// ots: the methods of the Otterscan explorer, in level 8 of its API. Quantities are hex
// everywhere; where serving nodes differ (logs in receipts, `value` null in calls that move none), the
// shorter form is used, as the explorer requests whole receipts when it needs them.
import type { Address, Hash } from '../../core/hex.ts'
import { whenThere } from '../../core/promises.ts'
import { type CallFrame, type FlatFrame, flatten, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { creationOf, findAppearances } from '../../node/calls/appearances.ts'
import { replayOne, TraceBudget } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { readBlock } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { executedAt, headOf } from '../../node/ledger/blocktree.ts'
import { minedPlace } from '../../node/ledger/leftblocks.ts'
import { codeAfter } from '../../node/ledger/packing/oldstate.ts'
import { rewardsIn } from '../../node/mining/rewards.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import { param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  hash,
  jsonNumber,
  list,
  nothing,
  nullable,
  quantity,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import { type Encoder, invalid } from '../../rpc/schema.ts'
import { byHashAndNumber, ofBlock } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { viewOfReceipt } from '../common/views.ts'
import { block, blockOrLatest } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { type BlockView, blockFields, viewOfBlock } from '../wire/encodeblock.ts'
import {
  field,
  plain,
  plainInteger,
  plainShape,
  quantityResult,
  reached,
  type ShapeField,
  shape,
} from '../wire/encodeobject.ts'
import { type ReceiptView, receiptFields } from '../wire/encodereceipt.ts'
import {
  type TransactionView,
  transactionFields,
  transactionShape,
  viewOfPlaced,
} from '../wire/encodetransaction.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** A block of a chain. */
interface Place {
  readonly chain: Chain
  readonly record: BlockRecord
}

interface Page {
  readonly places: readonly ReceiptView[]
}

const { transactions: _transactions, logsBloom: _logsBloom, ...plainBlockFields } = blockFields

/** A block with its transaction count, without transactions and bloom. */
const leanBlockFields: Readonly<Record<string, ShapeField<BlockView>>> = {
  ...plainBlockFields,
  logsBloom: field(nullable(data), () => null),
  transactionCount: field(plainInteger, ({ transactions }) => transactions.length),
}

const issuanceShape = shape<Record<'blockReward' | 'uncleReward', bigint>>('issuance', {
  ...plain({ blockReward: quantityResult, uncleReward: quantityResult }),
  issuance: field(quantityResult, ({ blockReward, uncleReward }) => blockReward + uncleReward),
})

const blockDetails = shape<Place>('block details', {
  block: field(shape('block without transactions', leanBlockFields), viewOf),
  issuance: field(issuanceShape, issuanceOf),
  // what the block's transactions paid
  totalFees: field(quantityResult, ({ record }) =>
    record.executed.reduce(
      (sum, { receipt }) => sum + receipt.gasUsed * receipt.effectiveGasPrice,
      0n,
    ),
  ),
})

/** With the input cut after its selector: lists show no more. */
const briefTransaction: Encoder<TransactionView> = shape('brief transaction', {
  ...transactionFields,
  input: field(data, ({ transaction }) => transaction.data.subarray(0, 4)),
})

const briefReceipt: Encoder<ReceiptView> = shape('receipt without logs', {
  ...receiptFields,
  logs: field(nothing, () => null),
  logsBloom: field(nothing, () => null),
})

/** With its block's time, in seconds. */
const timedReceipt: Encoder<ReceiptView> = shape('receipt with time', {
  ...receiptFields,
  timestamp: field(quantityResult, ({ record }) => record.block.header.timestamp),
})

const blockPage = shape<Page & { readonly view: BlockView }>('page of a block', {
  fullblock: field(
    shape<Page & { readonly view: BlockView }>('block with some transactions', {
      ...reached(leanBlockFields, ({ view }: { readonly view: BlockView }) => view),
      transactions: field(list(briefTransaction), transactionsOf),
    }),
    (page) => page,
  ),
  receipts: field(list(briefReceipt), ({ places }) => places),
})

const searchPage = shape<Page & Record<'firstPage' | 'lastPage', boolean>>('page of a search', {
  txs: field(list(transactionShape), transactionsOf),
  receipts: field(list(timedReceipt), ({ places }) => places),
  ...plain({ firstPage: boolean, lastPage: boolean }),
})

function transactionsOf({ places }: Page): readonly TransactionView[] {
  return places.map((place) => viewOfPlaced(place, false))
}

/** Kinds of operations by their numbers; 0 is a transfer. */
const NUMBERED: readonly string[] = ['', 'SELFDESTRUCT', 'CREATE', 'CREATE2']

const internalOperation = plainShape('internal operation', {
  type: plainInteger,
  from: address,
  to: address,
  value: quantityResult,
})

/** Kinds of frames that move no ether. */
const VALUELESS: ReadonlySet<CallFrame['kind']> = new Set(['DELEGATECALL', 'STATICCALL'])

const tracedCall = shape<FlatFrame>('traced call', {
  type: field(text, ({ frame }) => frame.kind),
  depth: field(plainInteger, ({ traceAddress }) => traceAddress.length),
  from: field(address, ({ frame }) => frame.from),
  to: field(nullable(address), ({ frame }) => frame.to),
  value: field(nullable(quantityResult), ({ frame: { kind, value } }) =>
    VALUELESS.has(kind) ? null : value,
  ),
  input: field(data, ({ frame }) => frame.input),
  output: field(data, ({ frame }) => frame.output),
})

function viewOf({ chain, record }: Place): BlockView {
  return viewOfBlock(record, chain.state.config.upstream)
}

function issuanceOf({
  chain: { state },
  record,
}: Place): Record<'blockReward' | 'uncleReward', bigint> {
  const { header, uncles } = record.block
  const hardfork = state.config.hardforkAt(header.number, header.timestamp)
  const rewards = rewardsIn(state.config, hardfork, header, uncles).map(({ amount }) => amount)
  const uncleReward = rewards.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)
  return { blockReward: rewards.at(-1) ?? 0n, uncleReward }
}

/** The API level, which the explorer requests first. */
const LEVEL = 8

/** Entries per page, plus the rest of the last block. */
const MAX_SIZE = 1_000

/** Of both directions. */
const searching = {
  params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
  result: searchPage,
  example: {
    params: [ACCOUNT, 0, 25],
    result: { txs: [], receipts: [], firstPage: true, lastPage: true },
  },
} as const

/** An account's transactions from a block on, in the order of the search. */
async function search(
  context: MethodContext,
  account: Address,
  wanted: Parameters<typeof findAppearances>[2],
): Promise<{ readonly places: readonly ReceiptView[]; readonly isComplete: boolean }> {
  if (wanted.count <= 0 || wanted.count > MAX_SIZE) {
    throw invalid('size', `1 to ${MAX_SIZE} transactions a page`, wanted.count)
  }
  const { chain, caller, options } = context
  const budget = new TraceBudget(options.traceLimit)
  const { places, isComplete } = await findAppearances(chain, account, wanted, budget, caller)
  return { places: places.map((place) => viewOfReceipt(context, place)), isComplete }
}

export const otsMethods: Methods = [
  method('ots_getApiLevel', {
    summary: 'Returns the supported level of the Otterscan API, as a JSON number.',
    result: plainInteger,
    example: { result: LEVEL },
    handle: () => LEVEL,
  }),
  method('ots_hasCode', {
    summary: 'Returns whether an account has code.',
    params: [param('address', address), blockOrLatest],
    result: boolean,
    example: { result: false },
    onFork: 'here',
    handle: ({ chain, caller }, account, block) =>
      whenThere(
        readBlock(chain, block, (record) => codeAfter(record, account), caller),
        (code) => code.length > 0,
      ),
  }),
  method('ots_getContractCreator', {
    summary: 'Returns who created a contract, in which transaction; null if no transaction did.',
    params: [param('address', address)],
    result: nullable(plainShape('creation', { hash, creator: address })),
    example: { result: null },
    onFork: 'creator',
    handle: async ({ chain, options }, contract) => {
      const found = await creationOf(chain, contract, new TraceBudget(options.traceLimit))
      if (found === undefined) return null
      return { hash: executedAt(found.place).transaction.hash, creator: found.creator }
    },
  }),
  method('ots_searchTransactionsBefore', {
    ...searching,
    summary: "Returns an account's transactions before a block, newest first; 0 for all.",
    onFork: 'searchBefore',
    // block 0 means the one after the newest
    handle: async (context, account, block, count) => {
      const head = headOf(context.chain.state.tree).block.header.number
      const firstPage = block === 0n || block > head
      const from = firstPage ? head : block - 1n
      const { places, isComplete } = await search(context, account, { from, step: -1n, count })
      return { places, firstPage, lastPage: isComplete }
    },
  }),
  method('ots_searchTransactionsAfter', {
    ...searching,
    summary: "Returns an account's transactions after a block, newest first; 0 for all.",
    onFork: 'searchAfter',
    // block 0 means the beginning
    handle: async (context, account, block, count) => {
      const lastPage = block === 0n
      const from = lastPage ? 0n : block + 1n
      const { places, isComplete } = await search(context, account, { from, step: 1n, count })
      return { places: places.toReversed(), firstPage: isComplete, lastPage }
    },
  }),
  method('ots_getTransactionBySenderAndNonce', {
    summary: 'Returns the hash of a mined transaction by sender and nonce; null if none.',
    params: [param('sender', address), param('nonce', quantity)],
    result: nullable(hash),
    example: { params: [ACCOUNT, 0], result: null },
    onFork: 'sent',
    handle: ({ chain }, sender, nonce) => {
      const place = sentWithNonce(chain.state, sender, nonce)?.place
      return place === undefined ? null : executedAt(place).transaction.hash
    },
  }),
  ...byHashAndNumber('ots_getBlockDetailsByHash', 'ots_getBlockDetails', {
    summary: 'Returns a block without its transactions: their number, total fees and issuance.',
    params: [block],
    result: nullable(blockDetails),
    example: { params: ['0xffffff'], result: null },
    onFork: 'network',
    handle: ofBlock(({ chain }, { record }) => ({ chain, record })),
  }),
  method('ots_getBlockTransactions', {
    summary: "Returns a page of a block's transactions, the last on page 0; inputs are cut.",
    params: [block, param('page', jsonNumber), param('size', jsonNumber)],
    result: nullable(blockPage),
    example: { params: ['0xffffff', 0, 25], result: null },
    onFork: 'page',
    // page 0 has a block's last transactions, as the explorer shows the newest first
    handle: ofBlock((context, { record }, page, size) => {
      const view = viewOf({ chain: context.chain, record })
      const end = Math.max(0, record.executed.length - page * size)
      const start = Math.max(0, end - size)
      const places = record.executed
        .slice(start, end)
        .map((_, i) => viewOfReceipt(context, { record, index: start + i }))
      return { view, places }
    }),
  }),
  method('ots_getInternalOperations', {
    summary: 'Returns transfers (0), selfdestructs (1), creates (2) and create2s (3).',
    params: [transactionHash],
    result: list(internalOperation),
    onFork: 'replay',
    handle: async (context, transactionHash) => {
      const { calls, failure } = await framesOf(context, transactionHash)
      return failure === undefined ? operationsIn(calls) : []
    },
  }),
  method('ots_traceTransaction', {
    summary: 'Returns the calls of a transaction as a flat list with depths.',
    params: [transactionHash],
    result: list(tracedCall),
    onFork: 'replay',
    handle: async (context, transactionHash) => [
      ...flatten(await framesOf(context, transactionHash), { includePrecompiles: true }),
    ],
  }),
  method('ots_getTransactionError', {
    summary: 'Returns the raw revert data of a transaction; 0x if it succeeded.',
    params: [transactionHash],
    result: data,
    onFork: 'replay',
    handle: ({ chain }, transactionHash) => {
      const { failure, output } = executedAt(minedPlace(chain.state, transactionHash))
      return failure === undefined ? new Uint8Array(0) : output
    },
  }),
]

type Operation = Parameters<typeof internalOperation.encode>[0]

/** The transfers, destructions and creations in order, without those in failed frames. */
function operationsIn(frames: readonly CallFrame[]): readonly Operation[] {
  return frames.flatMap((frame) => {
    if (frame.failure !== undefined) return []
    const { kind, from, to, value, calls } = frame
    const type = kind === 'CALL' && value > 0n ? 0 : NUMBERED.indexOf(kind)
    const own = type < 0 || to === null ? [] : [{ type, from, to, value }]
    return [...own, ...operationsIn(calls)]
  })
}

/** Re-executes a mined transaction. @returns its outermost frame */
async function framesOf({ chain, options }: MethodContext, hash: Hash): Promise<CallFrame> {
  const place = minedPlace(chain.state, hash)
  const budget = new TraceBudget(options.traceLimit)
  const recorder = recordCalls({ keep: budget.keep })
  const tracer = combineTracers([{ onTick: budget.tick }, recorder.tracer])
  await replayOne(chain, place, (_, at) => (at === place.index ? tracer : undefined))
  return recorder.top()
}
