// ots: what the Otterscan explorer asks of a node besides the usual methods, in level 8 of its API. Quantities are hex
// everywhere; where the nodes that serve it differ (logs left out of receipts, `value` null in calls that move none), the
// leaner form is taken, as the explorer asks for whole receipts where it shows them.

import { creationOf } from '../../node/calls/appearances.ts'
import { TraceBudget } from '../../node/calls/replay.ts'
import { findRecord, recordAt } from '../../node/chain/lookup.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  hash,
  list,
  nullable,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { codeAt } from '../../state/world.ts'
import { type MethodContext, method } from '../common/context.ts'
import { ACCOUNT, UNKNOWN } from '../common/examples.ts'
import { minedPlace } from '../tracing/recording.ts'
import { blockReference, byHash, LATEST } from '../wire/decodeblock.ts'
import {
  blockDetails,
  blockPage,
  creation,
  detailsOf,
  internalOperation,
  pageOf,
  searchPage,
  tracedCall,
} from '../wire/encodeexplorer.ts'
import { operationsOf, searchAfter, searchBefore, tracedCalls } from './search.ts'

/** Of the API: the explorer asks for it before all else. */
const LEVEL = 8

const level: Encoder<number> = {
  name: 'number',
  json: { title: 'number', type: 'integer' },
  encode: (value) => value,
}

const getApiLevel = method({
  name: 'ots_getApiLevel',
  summary: 'The level of the explorer’s API that is served, as a plain number.',
  params: [],
  result: level,
  example: { params: [], result: LEVEL },
  handle: () => LEVEL,
})

const hasCode = method({
  name: 'ots_hasCode',
  summary: 'Whether an account has code.',
  params: [param('address', address), optional('block', blockReference, LATEST)],
  result: boolean,
  example: { params: [ACCOUNT, 'latest'], result: false },
  handle: async ({ chain, caller }, account, block) =>
    codeAt((await recordAt(chain, block, caller.isWaiting)).world, account).length > 0,
})

const getInternalOperations = method({
  name: 'ots_getInternalOperations',
  summary:
    'What a transaction did within: ether moved (type 0), contracts destroyed (1), created (2), by CREATE2 (3).',
  params: [param('hash', hash)],
  result: list(internalOperation),
  example: { params: [UNKNOWN] },
  handle: (context, transactionHash) => operationsOf(context, transactionHash),
})

const traceTransaction = method({
  name: 'ots_traceTransaction',
  summary: 'The calls of a transaction as a flat list, each with its depth.',
  params: [param('hash', hash)],
  result: list(tracedCall),
  example: { params: [UNKNOWN] },
  handle: (context, transactionHash) => tracedCalls(context, transactionHash),
})

const getTransactionError = method({
  name: 'ots_getTransactionError',
  summary: 'What a transaction reverted with, undecoded; 0x when it did not.',
  params: [param('hash', hash)],
  result: data,
  example: { params: [UNKNOWN] },
  handle: ({ chain }, transactionHash) => {
    const { failure, output } = executedAt(minedPlace(chain, transactionHash))
    return failure === undefined ? new Uint8Array(0) : output
  },
})

const getBlockDetails = method({
  name: 'ots_getBlockDetails',
  summary: 'A block without its transactions: their number, the fees they paid, what was issued.',
  params: [param('block', blockReference)],
  result: nullable(blockDetails),
  example: { params: ['0xffffff'], result: null },
  handle: async ({ chain, caller }, block) =>
    detailsOf(chain, await findRecord(chain, block, caller.isWaiting)),
})

const getBlockDetailsByHash = method({
  name: 'ots_getBlockDetailsByHash',
  summary: 'As ots_getBlockDetails, by the block’s hash.',
  params: [param('hash', hash)],
  result: nullable(blockDetails),
  example: { params: [UNKNOWN], result: null },
  handle: async ({ chain }, blockHash) =>
    detailsOf(chain, await findRecord(chain, byHash(blockHash))),
})

const getBlockTransactions = method({
  name: 'ots_getBlockTransactions',
  summary: 'A page of a block’s transactions, page 0 the last ones; inputs are cut after 4 bytes.',
  params: [
    param('block', blockReference),
    param('page', quantityNumber),
    param('size', quantityNumber),
  ],
  result: nullable(blockPage),
  example: { params: ['0xffffff', 0, 25], result: null },
  handle: async ({ chain, caller }, block, page, size) =>
    pageOf(await findRecord(chain, block, caller.isWaiting), page, size),
})

const searchTransactionsBefore = method({
  name: 'ots_searchTransactionsBefore',
  summary:
    'Transactions that an account takes part in, in blocks before a number (0: all), the newest first.',
  params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
  result: searchPage,
  example: {
    params: [ACCOUNT, 0, 25],
    result: { txs: [], receipts: [], firstPage: true, lastPage: true },
  },
  handle: searchBefore,
})

const searchTransactionsAfter = method({
  name: 'ots_searchTransactionsAfter',
  summary:
    'Transactions that an account takes part in, in blocks after a number (0: all), the newest first.',
  params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
  result: searchPage,
  example: {
    params: [ACCOUNT, 0, 25],
    result: { txs: [], receipts: [], firstPage: true, lastPage: true },
  },
  handle: searchAfter,
})

const bySenderAndNonce = method({
  name: 'ots_getTransactionBySenderAndNonce',
  summary:
    'The hash of the transaction that an account sent with a nonce; null when none is mined.',
  params: [param('sender', address), param('nonce', quantity)],
  result: nullable(hash),
  example: { params: [ACCOUNT, 0], result: null },
  handle: ({ chain }, sender, nonce) => {
    const place = sentWithNonce(chain.state, sender, nonce)?.place
    return place === undefined ? null : executedAt(place).transaction.hash
  },
})

const getContractCreator = method({
  name: 'ots_getContractCreator',
  summary: 'Who made a contract, and in which transaction; null for what no transaction made.',
  params: [param('address', address)],
  result: nullable(creation),
  example: { params: [ACCOUNT], result: null },
  handle: async ({ chain, options }, contract) => {
    const found = await creationOf(chain, contract, new TraceBudget(options.traceLimit))
    if (found === undefined) return null
    return { hash: executedAt(found.place).transaction.hash, creator: found.creator }
  },
})

export const otsMethods: readonly Method<MethodContext>[] = [
  getApiLevel,
  hasCode,
  getInternalOperations,
  traceTransaction,
  getTransactionError,
  getBlockDetails,
  getBlockDetailsByHash,
  getBlockTransactions,
  searchTransactionsBefore,
  searchTransactionsAfter,
  bySenderAndNonce,
  getContractCreator,
]
