// Old blocks, transactions, receipts and their traces are the network's to tell of: its answers are passed on untouched.
import { DevchainError } from '../../core/errors.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { isPromise, type MaybePromise } from '../../core/promises.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { quantity } from '../network/answers.ts'
import { accountOver, codeOver, modifiedOver, slotOver } from './accounts.ts'
import { feeHistoryOver } from './feehistory.ts'
import { filterChangesOver, filterLogsOver, logsOver } from './logs.ts'
import { nodeInterfaceOf } from './nodeinterface.ts'
import { areTaken, namedAsGiven, plainParams } from './parameters.ts'
import {
  askPlaced,
  below,
  isChanged,
  numberAt,
  placeOf,
  type Question,
  referenceIn,
} from './places.ts'
import { answerHere, askOrMake, makeHere } from './retrace.ts'
import { creatorOver, searchAfterOver, searchBeforeOver, sentOver } from './searches.ts'
import { askNetwork } from './shapes.ts'
import { chainTracesOver, encodedBlockOver, framesOver } from './traces.ts'

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
  debug_accountInfoAt: 0,
  debug_accountRange: 0,
  debug_dumpBlock: 0,
  debug_executionWitness: 0,
  debug_getRawBlock: 0,
  debug_getRawHeader: 0,
  debug_getRawReceipts: 0,
  debug_getRawTransactions: 0,
  debug_intermediateRoots: 0,
  debug_storageRangeAt: 0,
  debug_traceBlockByHash: 0,
  debug_traceBlockByNumber: 0,
  trace_block: 0,
  trace_blockOpcodeGas: 0,
  trace_replayBlockTransactions: 0,
  ots_getBlockDetails: 0,
  ots_getBlockDetailsByHash: 0,
  ots_getBlockTransactions: 0,
}

/** Those that tell of the state after a block: of the fork's own it is the network's for as long as nothing was changed. */
const OF_STATES: ReadonlySet<string> = new Set([
  'eth_getProof',
  'debug_accountRange',
  'debug_dumpBlock',
])

/** Those whose answer has the number of the block, so that it need not be known before. */
const TELLING_NUMBERS: ReadonlySet<string> = new Set([
  'eth_getBlockByHash',
  'eth_getHeaderByHash',
  'eth_getTransactionByBlockHashAndIndex',
])

/** Methods that name a transaction by its hash, their first parameter. */
const OF_TRANSACTIONS: ReadonlySet<string> = new Set([
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getRawTransactionByHash',
  'ext_getRawTransactionReceiptByHash',
  'debug_traceTransaction',
  'devchain_traceTransaction',
  'trace_transaction',
  'trace_transactionOpcodeGas',
  'trace_get',
  'trace_replayTransaction',
  'ots_getInternalOperations',
  'ots_getTransactionError',
  'ots_traceTransaction',
])

/** Those that other nodes do not have: the network's transactions are told of here. */
const OWN: ReadonlySet<string> = new Set([
  'devchain_traceTransaction',
  'ext_getRawTransactionReceiptByHash',
])

const OTHERS: Readonly<Record<string, Answerer>> = {
  debug_codeByHash: codeOver,
  debug_getModifiedAccountsByHash: modifiedOver,
  debug_getModifiedAccountsByNumber: modifiedOver,
  debug_traceBlock: encodedBlockOver,
  debug_traceChain: chainTracesOver,
  eth_call: nodeInterfaceOf,
  eth_getAccount: accountOver,
  eth_getFilterChanges: filterChangesOver,
  eth_getFilterLogs: filterLogsOver,
  eth_getLogs: logsOver,
  eth_getStorageAt: slotOver,
  eth_feeHistory: feeHistoryOver,
  eth_getTransactionBySenderAndNonce: sentOver,
  ots_getContractCreator: creatorOver,
  ots_getTransactionBySenderAndNonce: sentOver,
  ots_searchTransactionsAfter: searchAfterOver,
  ots_searchTransactionsBefore: searchBeforeOver,
  trace_filter: framesOver,
}

/** The network may have tracers that are not known here. */
const TRACING: ReadonlySet<string> = new Set(['debug_traceBlock', 'debug_traceChain'])

/** The answer of the network that a chain is a fork of; undefined where the chain answers. */
export function passOn(
  context: MethodContext,
  method: Method<MethodContext>,
  params: readonly unknown[],
): MaybePromise<Json> | undefined {
  const { upstream } = context.chain.state.config
  if (upstream === undefined) return undefined
  const answer = answerTo({ context, method, params, upstream })
  if (!isPromise(answer)) return answer
  return answer.catch((error: unknown) => {
    throw isUnknownThere(error, method.name)
      ? new DevchainError('METHOD_NOT_FOUND', error.message, error.data)
      : error
  })
}

const UNKNOWN_METHOD = -32601

/** True where the network does not know the very method that is asked for here. */
function isUnknownThere(error: unknown, name: string): error is RefusedByUpstream {
  return (
    error instanceof RefusedByUpstream &&
    error.ask.method === name &&
    error.upstream.code === UNKNOWN_METHOD
  )
}

function answerTo(question: Question): MaybePromise<Json> | undefined {
  const { method, params } = question
  const position = OF_BLOCKS[method.name]
  if (position !== undefined) return ofBlock(question, position)
  if (OF_TRANSACTIONS.has(method.name)) return ofTransaction(question)
  const answerer = OTHERS[method.name]
  return answerer && (TRACING.has(method.name) || areTaken(method, params))
    ? answerer(question)
    : undefined
}

function ofBlock(question: Question, position: number): MaybePromise<Json> | undefined {
  const { context, method, upstream } = question
  const params = plainParams(method, question.params)
  if (params === undefined) return undefined
  const given = params[position] ?? 'latest'
  const reference = referenceIn(given)
  if (reference === undefined) return undefined
  const place = placeOf(context.chain.state, upstream, reference)
  if (place === 'here') return undefined
  if (OF_STATES.has(method.name) && isChanged(context.chain.state, upstream, place)) {
    return undefined
  }
  const isHash = reference.kind === 'hash' && typeof given === 'string'
  const named = typeof place === 'bigint' && !isHash ? numberFor(method.name, place) : given
  const asked = params.map((param, index) => (index === position ? named : param))
  while (asked.length <= position) asked.push(asked.length === position ? named : null)
  const ask = async (number?: bigint): Promise<Json> =>
    method.name in OF_HEADERS
      ? await askHeader(question, asked, number)
      : namedAsGiven(method, question.params, await askNetwork(question, asked, number))
  return typeof place === 'bigint'
    ? askOrMake(question, () => ask(place), place)
    : ofHash(question, place, ask)
}

/** The explorer that asks for pages of a block names it by a number of JSON, and some nodes take nothing else. */
function numberFor(method: string, number: bigint): Json {
  return method === 'ots_getBlockTransactions' ? Number(number) : quantityFromBigint(number)
}

/** Methods of headers, and those of the blocks that have them. */
const OF_HEADERS: Readonly<Record<string, string>> = {
  eth_getHeaderByHash: 'eth_getBlockByHash',
  eth_getHeaderByNumber: 'eth_getBlockByNumber',
}

/** What blocks have besides their headers. */
const BESIDES_HEADERS = [
  'cumulativeDifficulty',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
]

/** A header, which where the network tells of none is what its block has besides the transactions. */
async function askHeader(
  question: Question,
  params: readonly unknown[],
  number: bigint | undefined,
): Promise<Json> {
  const { context, method } = question
  try {
    return await askNetwork(question, params, number)
  } catch (error) {
    const ofBlock = context.registry.get(OF_HEADERS[method.name] ?? '')
    if (!(error instanceof RefusedByUpstream) || ofBlock === undefined) throw error
    const block = await askNetwork({ ...question, method: ofBlock }, [...params, false], number)
    if (block === null) return null
    const members = Object.entries(block).filter(([name]) => !BESIDES_HEADERS.includes(name))
    return Object.fromEntries(members) as Json
  }
}

/** The answer about a block that has a hash which nobody here knows yet. */
async function ofHash(
  question: Question,
  hash: Hash,
  ask: (number?: bigint) => Promise<Json>,
): Promise<Json> {
  if (TELLING_NUMBERS.has(question.method.name)) return below(await ask(), question.upstream)
  const number = await numberAt(question.upstream, hash)
  // nobody knows it: the chain says so in its own words
  if (number === undefined) return await answerHere(question)
  return await askOrMake(question, () => ask(number), number)
}

async function beyond(question: Question, hash: Hash): Promise<Json> {
  const { method, params, upstream } = question
  const known = await askPlaced(upstream, 'eth_getTransactionByHash', [hash])
  if (method.name === 'eth_getTransactionByHash' && known !== null) return known
  // nobody knows it: the chain says so in its own words
  if (known === null) return await answerHere(question)
  const number = quantity((known as { readonly blockNumber?: unknown }).blockNumber)
  if (OWN.has(method.name)) return await makeHere(question, number)
  return await askOrMake(question, () => askNetwork(question, params, number), number)
}

function ofTransaction(question: Question): MaybePromise<Json> | undefined {
  const { context, method, upstream } = question
  const { tree, pool } = context.chain.state
  const params = plainParams(method, question.params)
  if (params === undefined) return undefined
  const hash = params[0] as Hash
  const place = transactionPlace(tree, hash)
  const isMined = place !== undefined && place.record.block.header.number > upstream.number
  return isMined || pooledByHash(pool, hash) !== undefined
    ? undefined
    : beyond({ ...question, params }, hash)
}
