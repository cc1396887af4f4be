// eth_getLogs across the fork block: the network's logs, in ranges that it accepts, then those made here.
import { DevchainError } from '../../core/errors.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import type { LogQuery } from '../../node/events/logs.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { Json } from '../../rpc/schema.ts'
import { isObject } from '../network/answers.ts'
import {
  type BoundaryRequest,
  boundOf,
  headNumber,
  numberIn,
  placeOf,
  referenceIn,
} from './places.ts'
import { type Filter, logsBetween, readLogs, within } from './ranges.ts'
import { answerHere } from './retrace.ts'
import { askNetwork } from './shapes.ts'

export async function logsOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params, upstream } = request
  const [filter] = params
  if (!isObject(filter)) return undefined
  if (filter.blockHash !== undefined && filter.blockHash !== null) {
    const reference = referenceIn(filter.blockHash)
    const number = reference && (await numberIn(request, placeOf(request, reference)))
    // unknown block: the chain reports it
    return number === undefined ? undefined : await askNetwork(request, params, number)
  }
  const from = boundOf(request, filter.fromBlock ?? 'latest')
  const to = boundOf(request, filter.toBlock ?? 'latest')
  if (from === undefined || from > upstream.number || (to !== undefined && to < from)) {
    return undefined
  }
  return await inParts(request, filter, from, to)
}

export async function filterLogsOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { filters } = request.context
  return await logsOfQuery(request, filters.rangeOf(BigInt(String(request.params[0]))))
}

/** The first poll of a filter that begins in the network's blocks. */
export async function filterChangesOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { filters } = request.context
  const id = BigInt(String(request.params[0]))
  const stored = await logsOfQuery(request, filters.historyOf(id))
  if (stored === undefined) return undefined
  const before = await filters.beginWith(id, async () => stored)
  const changes = await answerHere(request)
  return [...((before ?? []) as readonly Json[]), ...(changes as readonly Json[])]
}

async function logsOfQuery(
  request: BoundaryRequest,
  query: LogQuery | undefined,
): Promise<Json | undefined> {
  const method = request.context.registry.get('eth_getLogs')
  if (query === undefined || method === undefined) return undefined
  return await logsOver({ ...request, method, params: [filterOf(query)] })
}

function filterOf({ from, to, blockHash, addresses, topics }: LogQuery): Filter {
  const range: Filter =
    blockHash === undefined ? { fromBlock: named(from), toBlock: named(to) } : { blockHash }
  return { ...range, topics: topics as Json, ...(addresses.length > 0 && { address: addresses }) }
}

function named(reference: BlockReference | undefined): Json {
  if (reference === undefined) return 'latest'
  if (reference.kind === 'number') return quantityFromBigint(reference.number)
  return reference.kind === 'tag' ? reference.tag : reference.hash
}

async function inParts(
  request: BoundaryRequest,
  filter: Filter,
  from: bigint,
  to: bigint | undefined,
): Promise<Json> {
  const { upstream, context } = request
  const last = to === undefined || to > upstream.number ? upstream.number : to
  const range = { from, to: last }
  const ask = async (): Promise<readonly Json[]> => {
    let isOwn = false
    const make = (): Promise<readonly Json[]> => {
      isOwn = true
      return logsBetween(upstream, filter, range, context.caller)
    }
    try {
      return await upstream.ask('eth_getLogs', [within(filter, range)], last, readLogs, make)
    } catch (error) {
      const isCancelled = error instanceof DevchainError && error.word === 'CANCELLED'
      // clients share a search, and the one that began it may be gone
      if (isCancelled && !isOwn && !context.caller.aborted) return await ask()
      throw error
    }
  }
  const logs = await ask()
  if (to !== undefined && to <= upstream.number) return logs
  const rest = { ...filter, fromBlock: quantityFromBigint(upstream.number + 1n) }
  if (headNumber(request) <= upstream.number && to !== undefined) return logs
  const own = await answerHere({ ...request, params: [rest] })
  return [...logs, ...(own as readonly Json[])]
}
