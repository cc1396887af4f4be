// eth: transactions and receipts.

import { addresses, isImpersonated } from '../../node/accounts/accounts.ts'
import { findRecord } from '../../node/chain/lookup.ts'
import { headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { pendingOf, pooledByHash, pooledInOrder } from '../../node/pool/pool.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { param } from '../../rpc/method.ts'
import { address, data, list, nullable, quantity, quantityNumber } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { byHashAndNumber } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { shortened, viewOfReceipt } from '../common/views.ts'
import { block, isPending } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { receiptShape } from '../wire/encodereceipt.ts'
import {
  pendingTransactionShape,
  type TransactionView,
  transactionShape,
  viewOfPlaced,
  viewOfPooled,
} from '../wire/encodetransaction.ts'

/** A pending transaction, with its block members missing or zero. */
const waiting: Encoder<{ readonly view: TransactionView; readonly hasPlace: boolean }> = {
  name: 'pending transaction',
  json: pendingTransactionShape.json,
  encode: ({ view, hasPlace }) =>
    hasPlace ? pendingTransactionShape.encode(view.transaction) : transactionShape.encode(view),
}

export const transactionMethods: Methods = [
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
      handle: viewAt,
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
      if (context.profile.pendingTransactions === 'own') {
        const own = ownPending(state, environment.now())
        return own.map((transaction) => ({ view: viewOfPooled(transaction), hasPlace: true }))
      }
      return pooledInOrder(state.pool).map(({ transaction }) => ({
        view: shortened(context, viewOfPooled(transaction)),
        hasPlace: false,
      }))
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
      handle: async ({ chain, caller }, block, index) => {
        const record = await findRecord(chain, block, caller)
        return record?.block.transactions[index]?.raw ?? null
      },
    },
  ),
]

async function viewAt(
  context: MethodContext,
  block: BlockReference,
  index: number,
): Promise<TransactionView | null> {
  const record = await findRecord(context.chain, block, context.caller)
  if (record === undefined || index >= record.executed.length) return null
  return shortened(context, viewOfPlaced({ record, index }, isPending(block)))
}

/** "Submitted by the node operator" (spec 4.4): the sender is one of the node's accounts, or impersonated. */
function ownPending({ accounts, pool, tree }: ChainState, now: number): readonly Transaction[] {
  const own = new Set(addresses(accounts))
  return pendingOf(pool, headOf(tree).world)
    .map(({ transaction }) => transaction)
    .filter(({ from }) => own.has(from) || isImpersonated(accounts, from, now))
}
