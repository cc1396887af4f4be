// Blocks, headers, receipts and transactions as the bytes that are hashed: debug_getRaw…, eth_getRaw… and ext.

import type { Hash } from '../core/hex.ts'
import { findRecord, recordAt } from '../node/chain/lookup.ts'
import type { BlockRecord } from '../node/ledger/blockrecord.ts'
import { transactionPlace } from '../node/ledger/blocktree.ts'
import type { BlockReference } from '../node/ledger/references.ts'
import { encodeBlock, encodeHeader } from '../protocol/block.ts'
import { orderedTrieProof } from '../protocol/orderedtrie.ts'
import { encodeReceipt } from '../protocol/receipt.ts'
import { type Method, optional, param } from '../rpc/method.ts'
import { data, hash, list, nullable, quantityNumber, text } from '../rpc/primitives.ts'
import { type MethodContext, method } from './common/context.ts'
import { UNKNOWN } from './common/examples.ts'
import { PROTOCOL_VERSION } from './eth/chain.ts'
import { blockReference, byHash, LATEST } from './wire/decodeblock.ts'

const rawBlock = method({
  name: 'debug_getRawBlock',
  summary: 'The RLP of a block: header, transactions, uncles, withdrawals.',
  params: [optional('block', blockReference, LATEST)],
  result: data,
  example: { params: ['earliest'] },
  handle: async ({ chain, caller }, block) =>
    encodeBlock((await recordAt(chain, block, caller.isWaiting)).block),
})

const rawHeader = method({
  name: 'debug_getRawHeader',
  summary: 'The RLP of a block’s header; its Keccak-256 is the block’s hash.',
  params: [optional('block', blockReference, LATEST)],
  result: data,
  example: { params: ['earliest'] },
  handle: async ({ chain, caller }, block) =>
    encodeHeader((await recordAt(chain, block, caller.isWaiting)).block.header),
})

const rawReceipts = method({
  name: 'debug_getRawReceipts',
  summary: 'The canonical encodings of a block’s receipts.',
  params: [optional('block', blockReference, LATEST)],
  result: list(data),
  example: { params: ['earliest'], result: [] },
  handle: async ({ chain, caller }, block) =>
    encodedReceipts(await recordAt(chain, block, caller.isWaiting)),
})

const rawTransactions = method({
  name: 'debug_getRawTransactions',
  summary: 'The canonical encodings of a block’s transactions.',
  params: [optional('block', blockReference, LATEST)],
  result: list(data),
  example: { params: ['earliest'], result: [] },
  handle: async ({ chain, caller }, block) =>
    (await recordAt(chain, block, caller.isWaiting)).block.transactions.map(({ raw }) => raw),
})

const rawByBlockHashAndIndex = method({
  name: 'eth_getRawTransactionByBlockHashAndIndex',
  summary:
    'The encoding of a transaction, by its block’s hash and its index there; null when there is none.',
  params: [param('hash', hash), param('index', quantityNumber)],
  result: nullable(data),
  example: { params: [UNKNOWN, '0x0'], result: null },
  handle: (context, blockHash, index) => rawAt(context, byHash(blockHash), index),
})

const rawByBlockNumberAndIndex = method({
  name: 'eth_getRawTransactionByBlockNumberAndIndex',
  summary:
    'The encoding of a transaction, by its block’s number and its index there; null when there is none.',
  params: [param('block', blockReference), param('index', quantityNumber)],
  result: nullable(data),
  example: { params: ['latest', '0x0'], result: null },
  handle: (context, block, index) => rawAt(context, block, index),
})

const extProtocolVersion = method({
  name: 'ext_protocolVersion',
  summary: 'The protocol version, as eth_protocolVersion has it.',
  params: [],
  result: text,
  example: { params: [], result: PROTOCOL_VERSION },
  handle: () => PROTOCOL_VERSION,
})

const extRawReceipt = method({
  name: 'ext_getRawTransactionReceiptByHash',
  summary: 'The canonical encoding of a transaction’s receipt; null when it is not in the chain.',
  params: [param('hash', hash)],
  result: nullable(data),
  example: { params: [UNKNOWN], result: null },
  handle: ({ chain }, transactionHash) => {
    const place = transactionPlace(chain.state.tree, transactionHash)
    return place && encodedReceipts(place.record)[place.index]
  },
})

const extReceiptNodes = method({
  name: 'ext_getTransactionReceiptNodesByHash',
  summary:
    'Nodes of a block’s receipts trie from a receipt’s leaf to the root; null when there is no such block, or the transaction is not in it.',
  params: [param('blockHash', hash), param('transactionHash', hash)],
  result: nullable(list(data)),
  example: {
    params: ['0x4261349e4866c7680325425865b937d917f636ae7b5cbee38dbb5dcd2b164607', UNKNOWN],
  },
  handle: async ({ chain }, blockHash, transactionHash) => {
    const record = await findRecord(chain, byHash(blockHash))
    return record === undefined ? null : receiptNodes(record, transactionHash)
  },
})

const extHeaderByHash = method({
  name: 'ext_getRawBlockHeaderByHash',
  summary: 'The RLP of a block’s header by its hash, which is its Keccak-256; null when unknown.',
  params: [param('hash', hash)],
  result: nullable(data),
  example: { params: [UNKNOWN], result: null },
  handle: (context, blockHash) => headerOrNull(context, byHash(blockHash)),
})

const extHeaderByNumber = method({
  name: 'ext_getRawBlockHeaderByNumber',
  summary: 'The RLP of a block’s header by number or tag; null when there is no such block.',
  params: [param('block', blockReference)],
  result: nullable(data),
  example: { params: ['0xffffff'], result: null },
  handle: (context, block) => headerOrNull(context, block),
})

function encodedReceipts({ executed }: BlockRecord): readonly Uint8Array[] {
  return executed.map(({ receipt }) => encodeReceipt(receipt))
}

async function rawAt(
  { chain, caller }: MethodContext,
  block: BlockReference,
  index: number,
): Promise<Uint8Array | undefined> {
  const record = await findRecord(chain, block, caller.isWaiting)
  return record?.block.transactions[index]?.raw
}

async function headerOrNull(
  { chain, caller }: MethodContext,
  block: BlockReference,
): Promise<Uint8Array | null> {
  const record = await findRecord(chain, block, caller.isWaiting)
  return record === undefined ? null : encodeHeader(record.block.header)
}

function receiptNodes(record: BlockRecord, transactionHash: Hash): readonly Uint8Array[] | null {
  const index = record.block.transactions.findIndex(({ hash: each }) => each === transactionHash)
  return index < 0 ? null : orderedTrieProof(encodedReceipts(record), index).reverse()
}

export const rawMethods: readonly Method<MethodContext>[] = [
  rawByBlockHashAndIndex,
  rawByBlockNumberAndIndex,
  rawBlock,
  rawHeader,
  rawReceipts,
  rawTransactions,
  extProtocolVersion,
  extRawReceipt,
  extReceiptNodes,
  extHeaderByHash,
  extHeaderByNumber,
]
