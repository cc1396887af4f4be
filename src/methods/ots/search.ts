// What the Otterscan explorer looks for: an account's transactions, and what happened within one.
import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { type CallFrame, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { findAppearances } from '../../node/calls/appearances.ts'
import { replay, TraceBudget } from '../../node/calls/replay.ts'
import { headOf, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import type { MethodContext } from '../common/context.ts'
import { minedPlace } from '../tracing/recording.ts'
import type { InternalOperation, SearchPage, TracedCall } from '../wire/encodeexplorer.ts'

/** Entries of one page, at most, but for the rest of the last block. */
const MAX_SIZE = 1_000

/** Kinds of frames that move no ether. */
const VALUELESS: ReadonlySet<CallFrame['kind']> = new Set(['DELEGATECALL', 'STATICCALL'])

/** Transactions of an account before a block, newest first. Block 0 stands for the one after the newest. */
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
  return { places, isFirst, isLast: isComplete }
}

/** Transactions of an account after a block, newest first. Block 0 stands for the beginning. */
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
  return { places: places.toReversed(), isFirst: isComplete, isLast }
}

/**
 * Transfers, destructions and creations within a transaction, in their order. What failed, alone or with a frame around
 * it, did not happen and is left out.
 */
export async function operationsOf(
  context: MethodContext,
  hash: Hash,
): Promise<InternalOperation[]> {
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

/** All calls of a transaction, each before those that it made. */
export async function tracedCalls(context: MethodContext, hash: Hash): Promise<TracedCall[]> {
  const top = await framesOf(context, minedPlace(context.chain, hash))
  const calls: TracedCall[] = []
  const visit = (frame: CallFrame, depth: number): void => {
    const { kind, from, to, input, output } = frame
    const value = VALUELESS.has(kind) ? null : frame.value
    calls.push({ type: kind, depth, from, to, value, input, output })
    for (const inner of frame.calls) visit(inner, depth + 1)
  }
  visit(top, 0)
  return calls
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

/** The outermost frame of a mined transaction, run again. */
async function framesOf(
  { chain, options }: MethodContext,
  { record, index }: TransactionPlace,
): Promise<CallFrame> {
  const budget = new TraceBudget(options.traceLimit)
  const recorder = recordCalls({ keep: budget.keep })
  const tracer = combineTracers([{ onTick: budget.tick }, recorder.tracer])
  const tracerFor = (_: unknown, at: number): typeof tracer | undefined =>
    at === index ? tracer : undefined
  for await (const _ of replay(chain, record, tracerFor, index));
  return recorder.top()
}

function sizeOf(size: number): number {
  if (size > 0 && size <= MAX_SIZE) return size
  const message = `size: expected 1 to ${MAX_SIZE} transactions a page, got ${size}`
  throw new DevchainError('INVALID_PARAMS', message)
}
