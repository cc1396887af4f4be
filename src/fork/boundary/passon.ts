// Passes requests about old blocks, transactions, receipts and traces on to the network; its answers stay unchanged.
import { DevchainError, invalidParams, unlessRefused } from '../../core/errors.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import { isPromise, type MaybePromise } from '../../core/promises.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import { knownPlace } from '../../node/ledger/leftblocks.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import type { Method, OnFork } from '../../rpc/method.ts'
import { isSchema, type Json, remark } from '../../rpc/schema.ts'
import { orIfRefused, RefusedByUpstream } from '../client/client.ts'
import { quantity, unexpected } from '../network/answers.ts'
import { askByNames, namesLike } from '../network/listnames.ts'
import { accountOver, codeOver, modifiedOver, slotOver } from './accounts.ts'
import { rawBlock, rawHeader, rawReceipts, rawTransactions } from './encoded.ts'
import { feeHistoryOver } from './feehistory.ts'
import { filterChangesOver, filterLogsOver, logsOver } from './logs.ts'
import {
  askPlaced,
  type BoundaryRequest,
  below,
  isChanged,
  numberIn,
  placeOf,
  referenceIn,
} from './places.ts'
import { askOrMake, type Fallback, makeHere, replayed } from './retrace.ts'
import { creatorOver, searchAfterOver, searchBeforeOver, sentOver } from './searches.ts'
import { askNetwork } from './shapes.ts'
import { chainTracesOver, encodedBlockOver, framesOver } from './traces.ts'

/** Undefined: the chain itself answers. */
type Answerer = (request: BoundaryRequest) => MaybePromise<Json | undefined>

interface Rule {
  /** True: the answer names its block, so the place need not be known first. */
  readonly isPlaced?: boolean
  readonly isOfState?: boolean
  /** True: the network is asked only for the place. */
  readonly isOwn?: boolean
  /** The answer if the network refuses. */
  readonly instead?: Fallback
  readonly ask?: typeof askHeader
  readonly printNumber?: (number: bigint) => Json
}

/** By what the method's declaration says about forks. */
const ANSWERERS: Readonly<Record<OnFork, Answerer>> = {
  here: () => undefined,
  network: ofNamed({}),
  placed: ofNamed({ isPlaced: true }),
  header: ofNamed({ isPlaced: true, ask: askHeader }),
  state: ofNamed({ isOfState: true }),
  proof: ofNamed({ isOfState: true, ask: askProof }),
  accessList: ofNamed({ ask: askList }),
  // the explorer that asks for pages names blocks so, and some nodes accept nothing else
  page: ofNamed({ printNumber: Number }),
  replay: ofNamed({ instead: replayed }),
  own: ofNamed({ isOwn: true }),
  rawBlock: ofNamed({ instead: rawBlock }),
  rawHeader: ofNamed({ instead: rawHeader }),
  rawReceipts: ofNamed({ instead: rawReceipts }),
  rawTransactions: ofNamed({ instead: rawTransactions }),
  account: ofTaken(accountOver),
  call: ofTaken(nodeInterfaceOf),
  // the network may have tracers that are unknown here
  chainTraces: chainTracesOver,
  code: ofTaken(codeOver),
  creator: ofTaken(creatorOver),
  encodedBlock: encodedBlockOver,
  feeHistory: ofTaken(feeHistoryOver),
  filterChanges: ofTaken(filterChangesOver),
  filterLogs: ofTaken(filterLogsOver),
  frames: ofTaken(framesOver),
  logs: ofTaken(logsOver),
  modifiedAccounts: ofTaken(modifiedOver),
  searchAfter: ofTaken(searchAfterOver),
  searchBefore: ofTaken(searchBeforeOver),
  sent: ofTaken(sentOver),
  slot: ofTaken(slotOver),
}

/** Undefined: the chain itself answers, synchronously if it can. */
export function passOn(
  context: MethodContext,
  method: Method<MethodContext>,
  params: readonly unknown[],
): MaybePromise<Json | undefined> {
  const { upstream } = context.chain.state.config
  if (upstream === undefined) return undefined
  const answer = ANSWERERS[method.onFork ?? 'here']({ context, method, params, upstream })
  if (!isPromise(answer)) return answer
  return answer.catch((error: unknown) => {
    throw isUnknownThere(error, method.name)
      ? new DevchainError('METHOD_NOT_FOUND', error.message, error.data)
      : error
  })
}

const UNKNOWN_METHOD = -32601

/** True if the network does not know this method at all. */
function isUnknownThere(error: unknown, name: string): error is RefusedByUpstream {
  return (
    error instanceof RefusedByUpstream &&
    error.ask.method === name &&
    error.upstream.code === UNKNOWN_METHOD
  )
}

/** Parameters in the one form that every node accepts, as this chain accepts more; undefined: the method refuses them. */
function plainParams(
  method: Method<MethodContext>,
  given: readonly unknown[],
): readonly unknown[] | undefined {
  if (given.length > method.params.length) return undefined
  return unlessRefused(() => {
    const sent = method.params.map(({ name, decoder, required, fallback }, index) => {
      const value = given[index] ?? undefined
      if (value === undefined && required) throw invalidParams(name)
      const decoded = value === undefined ? fallback : decoder.decode(value as Json, name, [])
      if (!isSchema(decoder)) return value
      return decoded === undefined ? undefined : decoder.encode(decoded)
    })
    while (sent.length > 0 && sent.at(-1) === undefined) sent.pop()
    return sent
  })
}

/** Leaves invalid parameters to the chain, which reports them. */
function ofTaken(answerer: Answerer): Answerer {
  return (request) =>
    plainParams(request.method, request.params) === undefined ? undefined : answerer(request)
}

function ofNamed(rule: Rule): Answerer {
  return (request) => {
    const { method } = request
    const position = method.params.findIndex(({ decoder }) => decoder.names !== undefined)
    const params = plainParams(method, request.params)
    if (params === undefined) return undefined
    return method.params[position]?.decoder.names === 'block'
      ? ofBlock(request, params, position, rule)
      : ofTransaction({ ...request, params }, params[position] as Hash, rule)
  }
}

function ofBlock(
  request: BoundaryRequest,
  params: readonly unknown[],
  position: number,
  rule: Rule,
): MaybePromise<Json | undefined> {
  const { isOfState = false, ask: askFor = askNetwork, printNumber = quantityFromBigint } = rule
  const given = params[position] ?? 'latest'
  const reference = referenceIn(given)
  if (reference === undefined) return undefined
  const place = placeOf(request, reference)
  if (place === 'here' || (isOfState && isChanged(request, place))) return undefined
  const isHash = reference.kind === 'hash' && typeof given === 'string'
  const named = typeof place === 'bigint' && !isHash ? printNumber(place) : given
  const asked = params.map((param, index) => (index === position ? named : param))
  while (asked.length <= position) asked.push(asked.length === position ? named : null)
  const ask = (number?: bigint): Promise<Json> => askFor(request, asked, number)
  return typeof place === 'bigint'
    ? askOrMake(request, place, () => ask(place), rule.instead)
    : ofHash(request, place, ask, rule)
}

/** For a block hash that is not known here yet. */
async function ofHash(
  request: BoundaryRequest,
  hash: Hash,
  ask: (number?: bigint) => Promise<Json>,
  { isPlaced = false, instead }: Rule,
): Promise<Json | undefined> {
  if (isPlaced) return below(await ask(), request.upstream)
  const number = await numberIn(request, hash)
  // unknown block: the chain reports it
  if (number === undefined) return undefined
  return await askOrMake(request, number, () => ask(number), instead)
}

function ofTransaction(
  request: BoundaryRequest,
  hash: Hash,
  rule: Rule,
): MaybePromise<Json | undefined> {
  const { context, upstream } = request
  const { state } = context.chain
  const place = knownPlace(state, hash)
  const isMined = place !== undefined && place.record.block.header.number > upstream.number
  return isMined || pooledByHash(state.pool, hash) !== undefined
    ? undefined
    : beyond(request, hash, rule)
}

async function beyond(
  request: BoundaryRequest,
  hash: Hash,
  { isPlaced = false, isOwn = false, instead }: Rule,
): Promise<Json | undefined> {
  const { params, upstream } = request
  const known = await askPlaced(upstream, 'eth_getTransactionByHash', [hash])
  // unknown transaction: the chain reports it
  if (known === null) return undefined
  if (isPlaced) return known
  const number = quantity((known as { readonly blockNumber?: unknown }).blockNumber)
  if (isOwn) return await makeHere(request, number)
  return await askOrMake(request, number, () => askNetwork(request, params, number), instead)
}

const BESIDES_HEADERS = [
  'cumulativeDifficulty',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
]

/** If the network has no such method: its block without the transactions. */
async function askHeader(
  request: BoundaryRequest,
  params: readonly unknown[],
  number: bigint | undefined,
): Promise<Json> {
  const fromBlock = async (refusal: RefusedByUpstream): Promise<Json> => {
    const isHash = referenceIn(params[0])?.kind === 'hash'
    const name = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
    const method = request.context.registry.get(name)
    if (method === undefined) throw refusal
    const block = await askNetwork({ ...request, method }, [...params, false], number)
    if (block === null) return null
    const members = Object.entries(block).filter(([member]) => !BESIDES_HEADERS.includes(member))
    return Object.fromEntries(members) as Json
  }
  return await orIfRefused(() => askNetwork(request, params, number), fromBlock)
}

async function askList(
  request: BoundaryRequest,
  params: readonly unknown[],
  number: bigint | undefined,
): Promise<Json> {
  const { method } = request
  const names = namesLike(method.name, referenceIn(params[0])?.kind === 'hash' ? 'hash' : 'number')
  return await askByNames(names, (name) =>
    askNetwork({ ...request, method: { ...method, name } }, params, number),
  )
}

async function askProof(
  request: BoundaryRequest,
  params: readonly unknown[],
  number: bigint | undefined,
): Promise<Json> {
  const proof = await askNetwork(request, params, number)
  return namedAsGiven(request.method, request.params, proof)
}

/** Renames the slots of a proof to the form in which the client gave them. */
function namedAsGiven(
  { params }: Method<MethodContext>,
  given: readonly unknown[],
  answer: Json,
): Json {
  const index = params.findIndex(({ name }) => name === 'storageKeys')
  const { storageProof: proofs } = (answer ?? {}) as { readonly storageProof?: unknown }
  if (!Array.isArray(proofs)) return answer
  const keys = params[index]!.decoder.decode(given[index] ?? [], 'storageKeys', [])
  if (proofs.length !== (keys as readonly unknown[]).length) throw unexpected('a proof', answer)
  const storageProof = (keys as readonly { readonly key: string }[]).map(({ key }, at) => ({
    ...(proofs[at] as object),
    key,
  }))
  return { ...(answer as object), storageProof }
}

const NODE_INTERFACE = `0x${'c8'.padStart(40, '0')}`

/**
 * Arbitrum's NodeInterface exists in no state: nodes answer its calls themselves, so the network is asked. Undefined for
 * any other call, and for a fork with proofs, as the answer cannot be proven.
 */
function nodeInterfaceOf(request: BoundaryRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const [call, block, ...overrides] = params
  const to = (call as { readonly to?: unknown } | null | undefined)?.to
  const isIts = typeof to === 'string' && to.toLowerCase() === NODE_INTERFACE
  if (!isIts || upstream.seenNumber === undefined || upstream.facts().isProven) return undefined
  const reference = referenceIn(block ?? 'latest')
  if (reference === undefined) return undefined
  const place = placeOf(request, reference)
  // an unknown hash may be the network's
  const isStrange = typeof place === 'string' && place !== 'here'
  const number = typeof place === 'bigint' ? place : upstream.number
  remark(context.notes, `NodeInterface is answered by the network, at block ${number}`)
  const asked = [call, isStrange ? block : quantityFromBigint(number), ...overrides]
  return askNetwork(request, asked, isStrange ? undefined : number)
}
