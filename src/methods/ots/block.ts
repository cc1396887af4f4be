// ots: blocks a page at a time.

import { findRecord } from '../../node/chain/lookup.ts'
import { param } from '../../rpc/method.ts'
import { hashOfBlock, jsonNumber, nullable } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { UNKNOWN } from '../common/examples.ts'
import { blockReference, byHash } from '../wire/decodeblock.ts'
import { blockDetails, blockPage, detailsOf, pageOf } from '../wire/encodeexplorer.ts'

export const otsBlockMethods: Methods = [
  method({
    name: 'ots_getBlockDetails',
    summary: 'A block without its transactions: their number, the fees they paid, what was issued.',
    params: [param('block', blockReference)],
    result: nullable(blockDetails),
    example: { params: ['0xffffff'], result: null },
    onFork: 'network',
    handle: async ({ chain, caller }, block) =>
      detailsOf(chain, await findRecord(chain, block, caller.isWaiting)),
  }),
  method({
    name: 'ots_getBlockDetailsByHash',
    summary: 'As ots_getBlockDetails, by the block’s hash.',
    params: [param('hash', hashOfBlock)],
    result: nullable(blockDetails),
    example: { params: [UNKNOWN], result: null },
    onFork: 'network',
    handle: async ({ chain }, blockHash) =>
      detailsOf(chain, await findRecord(chain, byHash(blockHash))),
  }),
  method({
    name: 'ots_getBlockTransactions',
    summary:
      'A page of a block’s transactions, page 0 the last ones; inputs are cut after 4 bytes.',
    params: [param('block', blockReference), param('page', jsonNumber), param('size', jsonNumber)],
    result: nullable(blockPage),
    example: { params: ['0xffffff', 0, 25], result: null },
    onFork: 'page',
    handle: async ({ chain, caller }, block, page, size) =>
      pageOf(chain, await findRecord(chain, block, caller.isWaiting), page, size),
  }),
]
