// debug: blocks, headers, receipts and transactions as the bytes that are hashed.

import { recordAt } from '../../node/chain/lookup.ts'
import { latest } from '../../node/ledger/references.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader } from '../../protocol/blocks/header.ts'
import { optional } from '../../rpc/method.ts'
import { data, list } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { encodedReceipts } from '../wire/encodereceipt.ts'

export const debugRawMethods: Methods = [
  method({
    name: 'debug_getRawBlock',
    summary: 'The RLP of a block: header, transactions, uncles, withdrawals.',
    params: [optional('block', blockReference, latest)],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawBlock',
    handle: async ({ chain, caller }, block) =>
      encodeBlock((await recordAt(chain, block, caller.isWaiting)).block),
  }),
  method({
    name: 'debug_getRawHeader',
    summary: 'The RLP of a block’s header; its Keccak-256 is the block’s hash.',
    params: [optional('block', blockReference, latest)],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawHeader',
    handle: async ({ chain, caller }, block) =>
      encodeHeader((await recordAt(chain, block, caller.isWaiting)).block.header),
  }),
  method({
    name: 'debug_getRawReceipts',
    summary: 'The canonical encodings of a block’s receipts.',
    params: [optional('block', blockReference, latest)],
    result: list(data, 'receipt'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawReceipts',
    handle: async ({ chain, caller }, block) =>
      encodedReceipts(await recordAt(chain, block, caller.isWaiting)),
  }),
  method({
    name: 'debug_getRawTransactions',
    summary: 'The canonical encodings of a block’s transactions.',
    params: [optional('block', blockReference, latest)],
    result: list(data, 'transaction'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawTransactions',
    handle: async ({ chain, caller }, block) =>
      (await recordAt(chain, block, caller.isWaiting)).block.transactions.map(({ raw }) => raw),
  }),
]
