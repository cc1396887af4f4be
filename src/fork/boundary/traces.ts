// Traces of many blocks across the fork block: the network's, or replayed here, then those of local blocks.
import { limitExceeded } from '../../core/errors.ts'
import { bytesFromHex, quantityFromBigint } from '../../core/hex.ts'
import { throwIfCancelled } from '../../evm/cancellation.ts'
import { byHash } from '../../methods/wire/decodeblock.ts'
import { decodeBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { Json } from '../../rpc/schema.ts'
import { orIfRefused, type RefusedByUpstream } from '../client/client.ts'
import { isObject, unexpected } from '../network/answers.ts'
import { readBlock } from '../network/header.ts'
import {
  type BoundaryRequest,
  boundOf,
  headNumber,
  numberIn,
  placeOf,
  referenceIn,
} from './places.ts'
import { type Filter, type NumberRange, within } from './ranges.ts'
import { answerHere, askOrMake, makeHere, replayed } from './retrace.ts'
import { askNetwork } from './shapes.ts'

/** Blocks of the network that one request replays here. */
const MOST_BLOCKS = 1_000

/** Frames of one answer. */
const MOST_FRAMES = 10_000

/** `trace_filter`; undefined: none of the blocks is the network's. */
export async function framesOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { upstream } = request
  const [filter] = request.params
  if (!isObject(filter)) return undefined
  const head = headNumber(request)
  const [from, to] = [filter.fromBlock ?? 'earliest', filter.toBlock ?? 'latest'].map((each) =>
    boundOf(request, each, head),
  )
  const [after, count] = [Number(filter.after ?? 0), Number(filter.count ?? MOST_FRAMES)]
  if (from === undefined || to === undefined) return undefined
  if (from > upstream.number || to < from) return undefined
  const last = to > upstream.number ? upstream.number : to
  const { after: _, ...others } = filter
  const wanted = { ...others, mode: modeOf(request, filter) }
  const there = await framesThere(request, wanted, { from, to: last }, after + count)
  const kept = there.slice(after, after + count)
  if (to <= upstream.number || head <= upstream.number || kept.length >= count) return kept
  const rest = { ...filter, after: Math.max(0, after - there.length), count: count - kept.length }
  const params = [within(rest, { from: upstream.number + 1n, to })]
  const here = await answerHere({ ...request, params })
  return [...kept, ...(here as readonly Json[])]
}

/** Networks differ in what two addresses without a mode mean. */
function modeOf(
  { context }: BoundaryRequest,
  { mode, fromAddress, toAddress }: Filter,
): Json | undefined {
  const isClear = mode !== undefined || fromAddress === undefined || toAddress === undefined
  return isClear ? mode : context.profile.traceFilterMode
}

async function framesThere(
  request: BoundaryRequest,
  filter: Filter,
  range: NumberRange,
  most: number,
): Promise<readonly Json[]> {
  const { from, to } = range
  const frames = await orIfRefused(
    () => askNetwork(request, [within({ ...filter, count: most }, range)], to),
    (refusal) => requireFew(from, to, refusal),
  )
  if (Array.isArray(frames)) return frames
  if (frames !== undefined) throw unexpected('a list of frames', frames)
  const found: Json[] = []
  for (let number = from; number <= to && found.length < most; number++) {
    throwIfCancelled(request.context.caller)
    const count = Math.min(MOST_FRAMES, most - found.length)
    const params = [within({ ...filter, count }, { from: number, to: number })]
    const frames = await makeHere({ ...request, params }, number)
    for (const frame of frames as readonly Json[]) found.push(frame)
  }
  return found
}

/** @throws {DevchainError} `LIMIT_EXCEEDED` for too many blocks to replay */
function requireFew(from: bigint, last: bigint, cause?: RefusedByUpstream): undefined {
  if (last - from < BigInt(MOST_BLOCKS)) return
  const why = cause === undefined ? '' : ` (${cause.message})`
  const message = `blocks ${from} to ${last} are too many: one request re-executes at most ${MOST_BLOCKS} blocks of the forked network${why}`
  throw limitExceeded(message)
}

/** `debug_traceBlock` of a block of the network. */
export async function encodedBlockOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params } = request
  const [given] = params
  if (typeof given !== 'string' || !/^0x([0-9a-fA-F]{2})+$/.test(given)) return undefined
  const { hash } = decodeBlock(bytesFromHex(given))
  const number = await numberIn(request, placeOf(request, byHash(hash)))
  if (number === undefined) return undefined
  return await askOrMake(request, number, () => askNetwork(request, params, number), replayed)
}

/** `debug_traceChain`; undefined: none of the blocks is the network's. */
export async function chainTracesOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params, upstream } = request
  const [start, end, ...options] = params
  const [first, last] = [referenceIn(start), referenceIn(end)]
  if (first === undefined || last === undefined) return undefined
  const [from, to] = await Promise.all(
    [first, last].map((each) => numberIn(request, placeOf(request, each))),
  )
  const isWhole = from !== undefined && (to === undefined || from < to)
  if (!isWhole || from >= upstream.number) return undefined
  const until = to ?? upstream.number
  requireFew(from + 1n, until)
  const traces: Json[] = []
  for (let number = from + 1n; number <= until; number++) {
    const entry = await blockEntry(request, number, options)
    if (entry.traces.length > 0 || number === to) traces.push(entry)
  }
  if (to !== undefined) return traces
  const fork = quantityFromBigint(upstream.number)
  const own = await answerHere({ ...request, params: [fork, end, ...options] })
  return [...traces, ...(own as readonly Json[])]
}

async function blockEntry(
  request: BoundaryRequest,
  number: bigint,
  options: readonly unknown[],
): Promise<{ readonly block: string; readonly hash: Json; readonly traces: readonly Json[] }> {
  const { context, upstream } = request
  const at = quantityFromBigint(number)
  const method = context.registry.get('debug_traceBlockByNumber') ?? request.method
  const params = [at, ...options]
  const traced = { ...request, method, params }
  const [{ hash }, traces] = await Promise.all([
    upstream.ask('eth_getBlockByNumber', [at, false], number, (json) => readBlock(json as Json)),
    askOrMake(traced, number, () => askNetwork(traced, params, number), replayed),
  ])
  return { block: at, hash, traces: traces as readonly Json[] }
}
