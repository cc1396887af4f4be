// eth_feeHistory across the fork block: the network's blocks first, then those mined here.
import { quantityFromBigint } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { isQuantity, unexpected } from '../network/answers.ts'
import { type BoundaryRequest, headNumber, numberOf, placeOf, referenceIn } from './places.ts'
import { answerHere } from './retrace.ts'
import { askNetwork } from './shapes.ts'

interface History {
  readonly oldestBlock: Json
  readonly [member: string]: Json | undefined
}

/** Members that also have an entry for the block after the newest. */
const ONE_MORE = ['baseFeePerGas', 'baseFeePerBlobGas']

const MEMBERS = [...ONE_MORE, 'gasUsedRatio', 'blobGasUsedRatio', 'reward']

export async function feeHistoryOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { context, params, upstream } = request
  const [count, newest] = params
  const reference = referenceIn(newest ?? 'latest')
  const blocks = BigInt(String(count))
  if (reference === undefined || reference.kind === 'hash') return undefined
  if (blocks < 1n || blocks > 1024n) return undefined
  const place = placeOf(request, reference)
  if (typeof place === 'bigint') return await askHistory(request, blocks, place)
  const head = headNumber(request)
  const last = numberOf(context.chain.state, reference) ?? head + 1n
  const own = last - upstream.number
  if (last > head + 1n || blocks <= own) return undefined
  return await joined(request, blocks, own)
}

async function joined(request: BoundaryRequest, blocks: bigint, own: bigint): Promise<Json> {
  const { params, upstream } = request
  const { number } = upstream
  const count = blocks - own > number + 1n ? number + 1n : blocks - own
  const [, newest, ...more] = params
  const [remote, local] = (await Promise.all([
    askHistory(request, count, number),
    answerHere({ ...request, params: [quantityFromBigint(own), newest, ...more] }),
  ])) as unknown as [History, History]
  const blocksThere = blockCountIn(remote, count)
  const members = MEMBERS.flatMap((name) => {
    const first = listOf(remote[name])
    const second = listOf(local[name])
    if (first === undefined || second === undefined) return []
    const kept = ONE_MORE.includes(name) ? first.slice(0, blocksThere) : first
    return [[name, [...kept, ...second]] as const]
  })
  return { oldestBlock: remote.oldestBlock, ...Object.fromEntries(members) }
}

async function askHistory(request: BoundaryRequest, count: bigint, newest: bigint): Promise<Json> {
  const [, , percentiles] = request.params
  // some nodes require percentiles, and answer no or empty rewards for an empty list
  const asked = [quantityFromBigint(count), quantityFromBigint(newest), percentiles ?? []]
  const answer = await askNetwork(request, asked, newest)
  if (percentiles != null) return answer
  const { reward: _, ...history } = answer as unknown as History
  return history as Json
}

/**
 * How many blocks the network returned: it may leave out the oldest.
 * @throws {NoAnswer} if a list has another length
 */
function blockCountIn(history: History, asked: bigint): number {
  const { oldestBlock, gasUsedRatio } = history
  const count = listOf(gasUsedRatio)?.length ?? 0
  const isWhole = MEMBERS.every((name) => {
    const length = count + (ONE_MORE.includes(name) ? 1 : 0)
    return (listOf(history[name])?.length ?? length) === length
  })
  if (isQuantity(oldestBlock) && isWhole && count > 0 && count <= asked) return count
  throw unexpected('a fee history', history as Json)
}

/** Undefined also for an empty list: some nodes send one for what was not asked, or what their blocks lack. */
function listOf(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined
}
