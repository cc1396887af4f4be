// Finds out if what a request names is on this chain or on the forked network.
import { unlessRefused } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import { blockReference } from '../../methods/wire/decodeblock.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { knownBlock } from '../../node/ledger/leftblocks.ts'
import { type BlockReference, numberOfTag } from '../../node/ledger/references.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import { MissingState } from '../../state/misses.ts'
import { isObject, isQuantity, quantity, unexpected } from '../network/answers.ts'

export interface BoundaryRequest {
  readonly context: MethodContext
  readonly method: Method<MethodContext>
  readonly params: readonly unknown[]
  readonly upstream: Upstream
}

/** Undefined: no valid block, which the method itself refuses. */
export function referenceIn(value: unknown): BlockReference | undefined {
  return unlessRefused(() => blockReference.decode(value as Json, 'block', []))
}

/** 'here', a number on the network, or a hash that may be there. */
export function placeOf(
  { context, upstream }: BoundaryRequest,
  reference: BlockReference,
): 'here' | bigint | Hash {
  const { state } = context.chain
  const number =
    reference.kind === 'hash' ? numberOfHash(state, reference.hash) : numberOf(state, reference)
  if (number === undefined) return reference.kind === 'hash' ? reference.hash : 'here'
  return number <= upstream.number ? number : 'here'
}

/** Undefined: the pending block. */
export function numberOf(
  state: ChainState,
  reference: Exclude<BlockReference, { kind: 'hash' }>,
): bigint | undefined {
  if (reference.kind === 'number') return reference.number
  if (reference.tag === 'pending') return undefined
  if (reference.tag === 'earliest') return 0n
  if (reference.tag === 'latest') return headOf(state.tree).block.header.number
  return numberOfTag(state, reference.tag)
}

/** Undefined: a block that is not known here. */
function numberOfHash(state: ChainState, hash: Hash): bigint | undefined {
  try {
    return knownBlock(state, hash)?.block.header.number
  } catch (error) {
    if (error instanceof MissingState) return undefined
    throw error
  }
}

/** The number on the network; undefined: the block is here, or unknown to both. */
export async function numberIn(
  { upstream }: BoundaryRequest,
  place: 'here' | bigint | Hash,
): Promise<bigint | undefined> {
  if (place === 'here') return undefined
  if (typeof place === 'bigint') return place
  const block = await askPlaced(upstream, 'eth_getBlockByHash', [place, false])
  return block === null ? undefined : quantity((block as PlacedJson).number)
}

export function headNumber({ context }: BoundaryRequest): bigint {
  return BigInt(context.chain.state.tree.canonical.length) - 1n
}

/**
 * @param pending the number of the pending block
 * @returns undefined: no valid bound, which the method itself refuses
 */
export function boundOf(
  { context }: BoundaryRequest,
  value: Json,
  pending?: bigint,
): bigint | undefined {
  const reference = referenceIn(value)
  if (reference === undefined || reference.kind === 'hash') return undefined
  return numberOf(context.chain.state, reference) ?? pending
}

/** Hides what is in a block after the fork. */
export async function askPlaced(
  upstream: Upstream,
  method: string,
  params: readonly unknown[],
): Promise<Json> {
  return below(await upstream.ask(method, params, undefined, readPlaced), upstream)
}

function readPlaced(value: unknown): Json {
  if (value === null) return null
  const { number, blockNumber = number } = (isObject(value) ? value : {}) as PlacedJson
  if (blockNumber === null || isQuantity(blockNumber)) return value as Json
  throw unexpected('a block or a transaction', value)
}

interface PlacedJson {
  readonly number?: Json
  readonly blockNumber?: Json
}

/** True if the state after the fork block is no longer the network's. */
export function isChanged({ context, upstream }: BoundaryRequest, place: bigint | Hash): boolean {
  if (place !== upstream.number) return false
  const record = context.chain.state.tree.canonical.at(Number(upstream.number))
  return record === undefined || record.world.accounts.rootHash !== record.block.header.stateRoot
}

/** Null for what is in a block after the fork: this chain has other blocks there. */
export function below(answer: Json, { number }: Upstream): Json {
  const first = Array.isArray(answer) ? answer[0] : answer
  const { blockNumber, number: own } = (first ?? {}) as PlacedJson
  const of = blockNumber ?? own
  if (of === null || (typeof of === 'string' && quantity(of) > number)) return null
  // the network's pending transactions are not known here
  return first !== null && typeof first === 'object' && 'blockNumber' in first && of === undefined
    ? null
    : answer
}
