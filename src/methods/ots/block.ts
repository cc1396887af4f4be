// ots: blocks in pages, and operations within a transaction.

import type { Hash } from '../../core/hex.ts'
import { type CallFrame, flatten, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { replayOne, TraceBudget } from '../../node/calls/replay.ts'
import { findRecord } from '../../node/chain/lookup.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { param } from '../../rpc/method.ts'
import { data, jsonNumber, list, nullable } from '../../rpc/primitives.ts'
import { byHashAndNumber } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { minedPlace } from '../tracing/recording.ts'
import { block } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import {
  blockDetails,
  blockPage,
  detailsOf,
  type InternalOperation,
  internalOperation,
  pageOf,
  type TracedCall,
  tracedCall,
} from '../wire/encodeexplorer.ts'

export const otsBlockMethods: Methods = [
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
