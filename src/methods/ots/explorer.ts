// ots: the methods of the Otterscan explorer, in level 8 of its API. Quantities are hex
// everywhere; where serving nodes differ (logs in receipts, `value` null in calls that move none), the
// shorter form is used, as the explorer requests whole receipts when it needs them.

import type { Address, Hash } from '../../core/hex.ts'
import { type CallFrame, flatten, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { creationOf, findAppearances } from '../../node/calls/appearances.ts'
import { replayOne, TraceBudget } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { findRecord, stateAt } from '../../node/chain/lookup.ts'
import { executedAt, headOf, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { belowNumber } from '../../node/ledger/upstream.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import { param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  hash,
  jsonNumber,
  list,
  nullable,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import { invalid } from '../../rpc/schema.ts'
import { codeAt } from '../../state/world.ts'
import { byHashAndNumber } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { minedPlace } from '../tracing/recording.ts'
import { block, blockOrLatest } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import {
  blockDetails,
  blockPage,
  creation,
  detailsOf,
  type InternalOperation,
  internalOperation,
  pageOf,
  type SearchPage,
  searchPage,
  type TracedCall,
  tracedCall,
} from '../wire/encodeexplorer.ts'
import { plainInteger } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** The API level, which the explorer requests first. */
const LEVEL = 8

/** Entries per page, plus the rest of the last block. */
const MAX_SIZE = 1_000

/** An account's transactions before a block, newest first. Block 0 means the one after the newest. */
export async function searchBefore(
  { chain, options }: MethodContext,
  account: Address,
  block: bigint,
  size: number,
): Promise<SearchPage> {
  const head = headOf(chain.state.tree).block.header.number
  const isFirst = block === 0n || block > head
  const from = isFirst ? head : block - 1n
  const search = { from, step: -1n, count: sizeOf(size) } as const
  const budget = new TraceBudget(options.traceLimit)
  const { places, isComplete } = await findAppearances(chain, account, search, budget)
  return { places: withBelowNumber(chain, places), isFirst, isLast: isComplete }
}

/** An account's transactions after a block, newest first. Block 0 means the beginning. */
export async function searchAfter(
  { chain, options }: MethodContext,
  account: Address,
  block: bigint,
  size: number,
): Promise<SearchPage> {
  const isLast = block === 0n
  const search = { from: isLast ? 0n : block + 1n, step: 1n, count: sizeOf(size) } as const
  const budget = new TraceBudget(options.traceLimit)
  const { places, isComplete } = await findAppearances(chain, account, search, budget)
  return { places: withBelowNumber(chain, places).toReversed(), isFirst: isComplete, isLast }
}

/** Adds the block members that the forked network's receipts have. */
function withBelowNumber(
  { state }: Chain,
  places: readonly TransactionPlace[],
): SearchPage['places'] {
  const { upstream } = state.config
  return places.map((place) => ({
    ...place,
    belowNumber: belowNumber(upstream, place.record.block.header),
  }))
}

function sizeOf(size: number): number {
  if (size > 0 && size <= MAX_SIZE) return size
  throw invalid('size', `1 to ${MAX_SIZE} transactions a page`, size)
}

export const otsMethods: Methods = [
  method('ots_getApiLevel', {
    summary: 'Returns the supported level of the Otterscan API, as a JSON number.',
    result: plainInteger,
    example: { result: LEVEL },
    handle: () => BigInt(LEVEL),
  }),
  method('ots_hasCode', {
    summary: 'Returns whether an account has code.',
    params: [param('address', address), blockOrLatest],
    result: boolean,
    example: { result: false },
    onFork: 'here',
    handle: async ({ chain, caller }, account, block) =>
      codeAt((await stateAt(chain, block, caller)).world, account).length > 0,
  }),
  method('ots_getContractCreator', {
    summary: 'Returns who created a contract, in which transaction; null if no transaction did.',
    params: [param('address', address)],
    result: nullable(creation),
    example: { result: null },
    onFork: 'creator',
    handle: async ({ chain, options }, contract) => {
      const found = await creationOf(chain, contract, new TraceBudget(options.traceLimit))
      if (found === undefined) return null
      return { hash: executedAt(found.place).transaction.hash, creator: found.creator }
    },
  }),
  method('ots_searchTransactionsBefore', {
    summary: "Returns an account's transactions before a block, newest first; 0 for all.",
    params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
    result: searchPage,
    example: {
      params: [ACCOUNT, 0, 25],
      result: { txs: [], receipts: [], firstPage: true, lastPage: true },
    },
    onFork: 'searchBefore',
    handle: searchBefore,
  }),
  method('ots_searchTransactionsAfter', {
    summary: "Returns an account's transactions after a block, newest first; 0 for all.",
    params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
    result: searchPage,
    example: {
      params: [ACCOUNT, 0, 25],
      result: { txs: [], receipts: [], firstPage: true, lastPage: true },
    },
    onFork: 'searchAfter',
    handle: searchAfter,
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
    handle: async ({ chain, caller }, block) =>
      detailsOf(chain, await findRecord(chain, block, caller)),
  }),
  method('ots_getBlockTransactions', {
    summary: "Returns a page of a block's transactions, the last on page 0; inputs are cut.",
    params: [block, param('page', jsonNumber), param('size', jsonNumber)],
    result: nullable(blockPage),
    example: { params: ['0xffffff', 0, 25], result: null },
    onFork: 'page',
    handle: async ({ chain, caller }, block, page, size) =>
      pageOf(chain, await findRecord(chain, block, caller), page, size),
  }),
  method('ots_getInternalOperations', {
    summary: 'Returns transfers (0), selfdestructs (1), creates (2) and create2s (3).',
    params: [transactionHash],
    result: list(internalOperation),
    onFork: 'replay',
    handle: (context, transactionHash) => operationsOf(context, transactionHash),
  }),
  method('ots_traceTransaction', {
    summary: 'Returns the calls of a transaction as a flat list with depths.',
    params: [transactionHash],
    result: list(tracedCall),
    onFork: 'replay',
    handle: (context, transactionHash) => tracedCalls(context, transactionHash),
  }),
  method('ots_getTransactionError', {
    summary: 'Returns the raw revert data of a transaction; 0x if it succeeded.',
    params: [transactionHash],
    result: data,
    onFork: 'replay',
    handle: ({ chain }, transactionHash) => {
      const { failure, output } = executedAt(minedPlace(chain, transactionHash))
      return failure === undefined ? new Uint8Array(0) : output
    },
  }),
]

/** Kinds of frames that move no ether. */
const VALUELESS: ReadonlySet<CallFrame['kind']> = new Set(['DELEGATECALL', 'STATICCALL'])

/**
 * A transaction's transfers, destructions and creations in order, without those in
 * failed frames.
 */
async function operationsOf(context: MethodContext, hash: Hash): Promise<InternalOperation[]> {
  const top = await framesOf(context, minedPlace(context.chain, hash))
  const operations: InternalOperation[] = []
  const visit = (frame: CallFrame, depth: number): void => {
    if (frame.failure !== undefined) return
    const type = depth === 0 ? undefined : typeOf(frame)
    const { from, to, value } = frame
    if (type !== undefined && to !== null) operations.push({ type, from, to, value })
    for (const inner of frame.calls) visit(inner, depth + 1)
  }
  visit(top, 0)
  return operations
}

/** All calls of a transaction, in execution order. */
async function tracedCalls(context: MethodContext, hash: Hash): Promise<TracedCall[]> {
  const top = await framesOf(context, minedPlace(context.chain, hash))
  return [...flatten(top, { includePrecompiles: true })].map(({ frame, traceAddress }) => {
    const { kind, from, to, input, output } = frame
    const value = VALUELESS.has(kind) ? null : frame.value
    return { type: kind, depth: traceAddress.length, from, to, value, input, output }
  })
}

function typeOf({ kind, value }: CallFrame): InternalOperation['type'] | undefined {
  switch (kind) {
    case 'SELFDESTRUCT':
      return 1
    case 'CREATE':
      return 2
    case 'CREATE2':
      return 3
    case 'CALL':
      return value > 0n ? 0 : undefined
    default:
      return undefined
  }
}

/** Re-executes a mined transaction. @returns its outermost frame */
async function framesOf(
  { chain, options }: MethodContext,
  place: TransactionPlace,
): Promise<CallFrame> {
  const budget = new TraceBudget(options.traceLimit)
  const recorder = recordCalls({ keep: budget.keep })
  const tracer = combineTracers([{ onTick: budget.tick }, recorder.tracer])
  const tracerFor = (_: unknown, at: number): typeof tracer | undefined =>
    at === place.index ? tracer : undefined
  await replayOne(chain, place, tracerFor)
  return recorder.top()
}
