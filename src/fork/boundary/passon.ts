// Old blocks, transactions, receipts and their traces are the network's to tell of: its answers are passed on untouched.
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import { feeHistoryOver } from './feehistory.ts'
import { filterLogsOver, logsOver } from './logs.ts'
import { placeOf, type Question, referenceIn } from './places.ts'
import { traced } from './retrace.ts'

/** The network's answer, or both ones put together; undefined where the chain itself answers. */
type Answerer = (question: Question) => MaybePromise<Json> | undefined

/** Methods that name a block, by the position of that parameter. */
const OF_BLOCKS: Readonly<Record<string, number>> = {
  eth_getBlockByHash: 0,
  eth_getBlockByNumber: 0,
  eth_getHeaderByHash: 0,
  eth_getHeaderByNumber: 0,
  eth_getBlockTransactionCountByHash: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getUncleCountByBlockHash: 0,
  eth_getUncleCountByBlockNumber: 0,
  eth_getUncleByBlockHashAndIndex: 0,
  eth_getUncleByBlockNumberAndIndex: 0,
  eth_getTransactionByBlockHashAndIndex: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getRawTransactionByBlockHashAndIndex: 0,
  eth_getRawTransactionByBlockNumberAndIndex: 0,
  eth_getProof: 2,
  debug_executionWitness: 0,
  debug_getRawBlock: 0,
  debug_getRawHeader: 0,
  debug_getRawReceipts: 0,
  debug_traceBlockByHash: 0,
  debug_traceBlockByNumber: 0,
  trace_block: 0,
  trace_replayBlockTransactions: 0,
  ots_getBlockDetails: 0,
  ots_getBlockDetailsByHash: 0,
  ots_getBlockTransactions: 0,
}

/** Methods that name a transaction by its hash, their first parameter. */
const OF_TRANSACTIONS: ReadonlySet<string> = new Set([
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getRawTransactionByHash',
  'debug_traceTransaction',
  'trace_transaction',
  'trace_get',
  'trace_replayTransaction',
  'ots_getInternalOperations',
  'ots_getTransactionError',
  'ots_traceTransaction',
])

const OTHERS: Readonly<Record<string, Answerer>> = {
  eth_getLogs: logsOver,
  eth_getFilterLogs: filterLogsOver,
  eth_feeHistory: feeHistoryOver,
}

/** The answer of the network that a chain is a fork of; undefined where the chain answers. */
export function passOn(
  context: MethodContext,
  method: Method<MethodContext>,
  params: readonly unknown[],
): MaybePromise<Json> | undefined {
  const { upstream } = context.chain.state.config
  if (upstream === undefined) return undefined
  const question = { context, method, params, upstream }
  const position = OF_BLOCKS[method.name]
  if (position !== undefined) return ofBlock(question, position)
  if (OF_TRANSACTIONS.has(method.name)) return ofTransaction(question)
  return OTHERS[method.name]?.(question)
}

function ofBlock(question: Question, position: number): MaybePromise<Json> | undefined {
  const { context, method, params, upstream } = question
  const given = params[position] ?? 'latest'
  const reference = referenceIn(given)
  if (reference === undefined) return undefined
  const place = placeOf(context.chain.state, upstream, reference)
  if (place === 'here') return undefined
  // a proof of the block itself is the network's for as long as nothing was changed
  if (method.name === 'eth_getProof' && isChanged(context.chain.state, upstream, place)) {
    return undefined
  }
  const isHash = reference.kind === 'hash' && typeof given === 'string'
  const named = typeof place === 'bigint' && !isHash ? quantityFromBigint(place) : given
  const asked = params.map((param, index) => (index === position ? named : param))
  while (asked.length <= position) asked.push(asked.length === position ? named : null)
  const number = typeof place === 'bigint' ? place : undefined
  const ask = async (): Promise<Json> => {
    const answer = (await upstream.ask(method.name, asked, number)) as Json
    return number === undefined ? below(answer, upstream) : answer
  }
  return traced(question, ask, async () => number ?? (await numberAt(upstream, place as Hash)))
}

/** The number of an old block of the network; undefined for none. */
async function numberAt(upstream: Upstream, hash: Hash): Promise<bigint | undefined> {
  const block = await upstream.ask('eth_getBlockByHash', [hash, false])
  const known = below(block as Json, upstream) as { readonly number?: string } | null
  return known?.number === undefined ? undefined : BigInt(known.number)
}

/** True when the world after the fork's own block is no longer the network's. */
function isChanged({ tree }: ChainState, { number }: Upstream, place: bigint | Hash): boolean {
  if (place !== number) return false
  const record = tree.canonical.at(Number(number))
  return record === undefined || record.world.accounts.rootHash !== record.block.header.stateRoot
}

async function beyond(question: Question, hash: Hash): Promise<Json> {
  const { method, params, upstream } = question
  const transaction = await upstream.ask('eth_getTransactionByHash', [hash])
  const known = below(transaction as Json, upstream)
  if (method.name === 'eth_getTransactionByHash' || known === null) return known
  const { blockNumber } = known as { readonly blockNumber: string }
  const ask = async (): Promise<Json> => (await upstream.ask(method.name, params)) as Json
  return traced(question, ask, async () => BigInt(blockNumber))
}

function ofTransaction(question: Question): MaybePromise<Json> | undefined {
  const { context, method, params } = question
  const { tree, pool } = context.chain.state
  const [given] = params
  if (typeof given !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(given)) return undefined
  const hash = given.toLowerCase() as Hash
  const isHere =
    transactionPlace(tree, hash) !== undefined || pooledByHash(pool, hash) !== undefined
  if (isHere) return undefined
  return beyond(question, hash).then((answer) =>
    // nobody knows it: the chain says so in its own words
    answer === null ? (method.run(context, params, []) as MaybePromise<Json>) : answer,
  )
}

/** An answer about something in a block after the fork is none: there the chain has gone on alone. */
function below(answer: Json, { number }: Upstream): Json {
  const first = Array.isArray(answer) ? answer[0] : answer
  const { blockNumber, number: own } = (first ?? {}) as { blockNumber?: Json; number?: Json }
  const of = blockNumber ?? own
  if (of === null || (typeof of === 'string' && BigInt(of) > number)) return null
  // one that waits on the network is not known here
  return first !== null && typeof first === 'object' && 'blockNumber' in first && of === undefined
    ? null
    : answer
}
