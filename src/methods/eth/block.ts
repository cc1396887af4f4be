// eth: blocks, uncles, transactions and receipts; access lists of blocks (EIP-7928) under the names of execution-apis, reth
// and nethermind.
import { addresses, isImpersonated } from '../../node/accounts/accounts.ts'
import { accessListOfBlock } from '../../node/calls/blockaccesslist.ts'
import { findRecord } from '../../node/chain/lookup.ts'
import {
  type BlockTree,
  blockByHash,
  headOf,
  transactionPlace,
} from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { pendingOf, pooledByHash, pooledInOrder } from '../../node/pool/pool.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import {
  type AccountChanges,
  type BlockAccessList,
  type Changed,
  encodeAccessList,
  type SlotChanges,
} from '../../protocol/blocks/accesslist.ts'
import { cumulativeDifficulty } from '../../protocol/blocks/block.ts'
import { type Header, hashHeader } from '../../protocol/blocks/header.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { longList } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  list,
  nullable,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { type BlockLookup, byHashAndNumber, ofBlock } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { shortened, viewOfReceipt, withShortened } from '../common/views.ts'
import { block, blockOrLatest, isPending } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import {
  type BlockView,
  blockShape,
  headerShape,
  viewOfBlock,
  viewOfUncle,
} from '../wire/encodeblock.ts'
import { bytes32, field, plain, quantityResult, shape } from '../wire/encodeobject.ts'
import { receiptShape } from '../wire/encodereceipt.ts'
import {
  pendingTransactionShape,
  type TransactionView,
  transactionShape,
  viewOfPlaced,
  viewOfPooled,
} from '../wire/encodetransaction.ts'

function changes<T>(
  name: string,
  member: string,
  encoder: Encoder<T>,
): Encoder<readonly Changed<T>[]> {
  return list(
    shape<Changed<T>>(name, {
      index: field(quantityResult, ([index]) => index),
      [member]: field(encoder, ([, value]) => value),
    }),
  )
}

/** @see https://github.com/ethereum/execution-apis/blob/main/src/schemas/block-access-list.yaml */
const blockAccessList: Encoder<BlockAccessList> = list(
  shape<AccountChanges>('account access', {
    address: field(address, (account) => account.address),
    storageChanges: field(
      list(
        shape<SlotChanges>('slot changes', {
          key: field(bytes32, ([slot]) => slot),
          changes: field(changes('storage change', 'value', bytes32), ([, each]) => each),
        }),
      ),
      ({ storageChanges }) => storageChanges,
    ),
    ...plain({
      storageReads: list(bytes32),
      balanceChanges: changes('balance change', 'value', quantityResult),
      nonceChanges: changes('nonce change', 'value', quantityResult),
      codeChanges: changes('code change', 'code', data),
    }),
  }),
)

/** The same under names that take any reference, a hash, and a number. */
const accessList = {
  summary: 'Returns what the transactions of a block read and changed (EIP-7928); null if unknown.',
  params: [block],
  result: nullable(blockAccessList),
  example: { params: ['0xffffff'], result: null },
  onFork: 'accessList',
  handle: listAt,
} as const

/** A pending transaction, with its block members missing or zero. */
const waiting: Encoder<{ readonly view: TransactionView; readonly hasPlace: boolean }> = {
  name: 'pending transaction',
  json: pendingTransactionShape.json,
  encode: ({ view, hasPlace }) =>
    (hasPlace ? pendingTransactionShape : transactionShape).encode(view),
}

export const blockMethods: Methods = [
  ...byHashAndNumber('eth_getBlockByHash', 'eth_getBlockByNumber', {
    summary: 'Returns a block, with transactions as hashes or in full; null if unknown.',
    params: [block, optional('full', boolean, false)],
    result: nullable(blockShape),
    example: { params: ['0xffffff', false], result: null },
    onFork: 'placed',
    handle: ofBlock(viewOf),
  }),
  ...byHashAndNumber('eth_getHeaderByHash', 'eth_getHeaderByNumber', {
    aliases: ['erigon_getHeaderByHash', 'erigon_getHeaderByNumber'],
    summary: 'Returns a header; null if unknown.',
    params: [block],
    result: nullable(headerShape),
    example: { params: ['0xffffff'], result: null },
    onFork: 'header',
    handle: ofBlock((context, found) => viewOf(context, found, false)),
  }),
  ...byHashAndNumber('eth_getBlockTransactionCountByHash', 'eth_getBlockTransactionCountByNumber', {
    summary: 'Returns the number of transactions in a block; null if unknown.',
    params: [blockOrLatest],
    result: nullable(quantityResult),
    example: { params: ['latest'], result: '0x0' },
    onFork: 'network',
    handle: ofBlock((_, { record }) => record.block.transactions.length),
  }),
  method('eth_getBlockReceipts', {
    summary: 'Returns the receipts of a block; null if unknown.',
    params: [blockOrLatest],
    result: nullable(list(receiptShape, 'receipt')),
    example: { params: ['earliest'], result: [] },
    onFork: 'replay',
    handle: async (context, block) => {
      // a pending block has no receipts yet
      const record = isPending(block) ? undefined : await findRecord(context.chain, block)
      if (record === undefined) return null
      return record.executed.map((_, index) => viewOfReceipt(context, { record, index }))
    },
  }),
  ...byHashAndNumber('eth_getUncleCountByBlockHash', 'eth_getUncleCountByBlockNumber', {
    summary: 'Returns the number of uncles of a block; null if unknown.',
    params: [blockOrLatest],
    result: nullable(quantityResult),
    example: { params: ['latest'], result: '0x0' },
    onFork: 'network',
    handle: ofBlock((_, { record }) => record.block.uncles.length),
  }),
  ...byHashAndNumber('eth_getUncleByBlockHashAndIndex', 'eth_getUncleByBlockNumberAndIndex', {
    summary: 'Returns an uncle of a block, by index; null if there is none.',
    params: [block, param('index', quantityNumber)],
    result: nullable(blockShape),
    example: { params: ['latest', '0x0'], result: null },
    onFork: 'network',
    handle: ofBlock(uncleAt),
  }),
  method('eth_getBlockAccessList', accessList),
  ...byHashAndNumber('eth_getBlockAccessListByBlockHash', 'eth_getBlockAccessListByBlockNumber', {
    ...accessList,
    aliases: ['eth_getBlockAccessListByHash', 'eth_getBlockAccessListByNumber'],
  }),
  method('eth_getBlockAccessListRaw', {
    summary: 'Returns the access list of a block as RLP; null if unknown.',
    params: [block],
    result: nullable(data),
    example: { params: ['0xffffff'], result: null },
    onFork: 'accessList',
    handle: async (context, block) => {
      const found = await listAt(context, block)
      return found && encodeAccessList(found)
    },
  }),
  method('eth_getTransactionByHash', {
    summary: 'Returns a mined or pending transaction; null if unknown.',
    params: [transactionHash],
    result: nullable(transactionShape),
    example: { result: null },
    onFork: 'placed',
    handle: (context, transactionHash) => {
      const { state } = context.chain
      const place = transactionPlace(state.tree, transactionHash)
      if (place !== undefined) return shortened(context, viewOfPlaced(place, false))
      const pooled = pooledByHash(state.pool, transactionHash)
      return pooled === undefined ? null : shortened(context, viewOfPooled(pooled.transaction))
    },
  }),
  ...byHashAndNumber(
    'eth_getTransactionByBlockHashAndIndex',
    'eth_getTransactionByBlockNumberAndIndex',
    {
      summary: 'Returns a transaction of a block, by index; null if there is none.',
      params: [block, param('index', quantityNumber)],
      result: nullable(transactionShape),
      example: { params: ['latest', '0x0'], result: null },
      onFork: 'placed',
      handle: ofBlock((context, { record, pending }, index) =>
        index < record.executed.length
          ? shortened(context, viewOfPlaced({ record, index }, pending))
          : null,
      ),
    },
  ),
  method('eth_getTransactionBySenderAndNonce', {
    summary: 'Returns a mined or pending transaction by sender and nonce; null if there is none.',
    params: [param('sender', address), param('nonce', quantity)],
    result: nullable(transactionShape),
    example: { params: ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x0'], result: null },
    onFork: 'sent',
    handle: ({ chain }, sender, nonce) => {
      const sent = sentWithNonce(chain.state, sender, nonce)
      if (sent === undefined) return null
      return sent.place === undefined ? viewOfPooled(sent.waiting) : viewOfPlaced(sent.place, false)
    },
  }),
  method('eth_getTransactionReceipt', {
    summary: 'Returns the receipt of a mined transaction; null if pending or unknown.',
    params: [transactionHash],
    result: nullable(receiptShape),
    example: { result: null },
    onFork: 'network',
    handle: (context, transactionHash) => {
      const place = transactionPlace(context.chain.state.tree, transactionHash)
      return place === undefined ? null : viewOfReceipt(context, place)
    },
  }),
  // null, as in every look-up of a transaction and in execution-apis' test of an unknown one, though its schema lacks null
  method('eth_getRawTransactionByHash', {
    aliases: ['debug_getRawTransaction'],
    summary: 'Returns the encoding of a mined or pending transaction; null if unknown.',
    params: [transactionHash],
    result: nullable(data),
    example: { result: null },
    onFork: 'network',
    handle: ({ chain }, transactionHash) => {
      const place = transactionPlace(chain.state.tree, transactionHash)
      const mined = place?.record.block.transactions[place.index]
      return (mined ?? pooledByHash(chain.state.pool, transactionHash)?.transaction)?.raw ?? null
    },
  }),
  method('eth_pendingTransactions', {
    summary: "Returns the pending transactions of this node's own accounts.",
    result: list(waiting, 'transaction'),
    example: { result: [] },
    handle: (context) => {
      const { state, environment } = context.chain
      const hasPlace = context.profile.pendingTransactions === 'own'
      const views = hasPlace
        ? ownPending(state, environment.now()).map(viewOfPooled)
        : pooledInOrder(state.pool).map((each) =>
            shortened(context, viewOfPooled(each.transaction)),
          )
      return longList(
        views.map((view) => ({ view, hasPlace })),
        waiting,
      )
    },
  }),
  ...byHashAndNumber(
    'eth_getRawTransactionByBlockHashAndIndex',
    'eth_getRawTransactionByBlockNumberAndIndex',
    {
      summary: 'Returns the encoded transaction at an index of a block; null if none.',
      params: [block, param('index', quantityNumber)],
      result: nullable(data),
      example: { params: ['latest', '0x0'], result: null },
      onFork: 'network',
      handle: ofBlock((_, { record }, index) => record.block.transactions[index]?.raw),
    },
  ),
]

function viewOf(
  context: MethodContext,
  { record, pending }: BlockLookup,
  full: boolean,
): BlockView {
  const { chain, profile } = context
  const form = { full, pending, form: profile.block }
  return withShortened(context, viewOfBlock(record, chain.state.config.upstream, form))
}

function uncleAt(
  { chain, profile }: MethodContext,
  { record }: BlockLookup,
  index: number,
): BlockView | null {
  const uncle = record.block.uncles[index]
  if (uncle === undefined) return null
  return viewOfUncle(uncle, profile.block.hasTotals ? weightOf(chain.state.tree, uncle) : {})
}

/** An uncle's difficulties. If its block is no longer kept, its own uncles are left out. */
function weightOf(tree: BlockTree, uncle: Header): Parameters<typeof viewOfUncle>[1] {
  const record = blockByHash(tree, hashHeader(uncle))
  const parentTotal = blockByHash(tree, uncle.parentHash)?.totalDifficulty ?? 0n
  return {
    cumulativeDifficulty: cumulativeDifficulty(record?.block ?? { header: uncle, uncles: [] }),
    totalDifficulty: record?.totalDifficulty ?? parentTotal + uncle.difficulty,
  }
}

async function listAt(
  { chain, caller }: MethodContext,
  block: BlockReference,
): Promise<BlockAccessList | null> {
  // as in execution-apis, a pending block has none
  const record = isPending(block) ? undefined : await findRecord(chain, block, caller)
  return record === undefined ? null : accessListOfBlock(chain, record, caller)
}

/** "Submitted by the node operator" (spec 4.4): the sender is one of the node's accounts, or impersonated. */
function ownPending({ accounts, pool, tree }: ChainState, now: number): readonly Transaction[] {
  const own = new Set(addresses(accounts))
  return pendingOf(pool, headOf(tree).world)
    .map(({ transaction }) => transaction)
    .filter(({ from }) => own.has(from) || isImpersonated(accounts, from, now))
}
