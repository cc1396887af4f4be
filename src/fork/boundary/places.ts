// Finds out if what a request names is on this chain or on the forked network.
import { DevchainError } from '../../core/errors.ts'
import { type Hash, isBytes } from '../../core/hex.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import { blockReference } from '../../methods/wire/decodeblock.ts'
import { blockByHash, headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { numberOfTag } from '../../node/ledger/finality.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import { MissingState } from '../../state/misses.ts'
import { isQuantity, quantity, unexpected } from '../network/answers.ts'

export interface ForkRequest {
  readonly context: MethodContext
  readonly method: Method<MethodContext>
  readonly params: readonly unknown[]
  readonly upstream: Upstream
}

/** Undefined: no valid block, which the method itself refuses. */
export function referenceIn(value: unknown): BlockReference | undefined {
  try {
    return blockReference.decode(value as Json, 'block', [])
  } catch (error) {
    if (error instanceof DevchainError) return undefined
    throw error
  }
}

/** 'here', a number on the network, or a hash that may be there. */
export function placeOf(
  state: ChainState,
  { number: fork }: Upstream,
  reference: BlockReference,
): 'here' | bigint | Hash {
  if (reference.kind === 'hash') return placeOfHash(state, fork, reference.hash)
  const number = numberOf(state, reference)
  return number !== undefined && number <= fork ? number : 'here'
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

function placeOfHash({ tree }: ChainState, fork: bigint, hash: Hash): 'here' | bigint | Hash {
  try {
    const number = blockByHash(tree, hash)?.block.header.number
    if (number === undefined) return hash
    return number > fork ? 'here' : number
  } catch (error) {
    if (error instanceof MissingState) return hash
    throw error
  }
}

export async function numberAt(upstream: Upstream, hash: Hash): Promise<bigint | undefined> {
  const known = await askPlaced(upstream, 'eth_getBlockByHash', [hash, false])
  return known === null ? undefined : quantity((known as { readonly number?: unknown }).number)
}

export async function numberIn(
  upstream: Upstream,
  place: bigint | Hash,
): Promise<bigint | undefined> {
  return typeof place === 'bigint' ? place : await numberAt(upstream, place)
}

export function headNumber({ context }: ForkRequest): bigint {
  return BigInt(context.chain.state.tree.canonical.length) - 1n
}

/**
 * @param pending the number of the pending block
 * @returns undefined: no valid bound, which the method itself refuses
 */
export function boundOf(
  { context }: ForkRequest,
  value: Json,
  pending?: bigint,
): bigint | undefined {
  const reference = referenceIn(value)
  if (reference === undefined || reference.kind === 'hash') return undefined
  return numberOf(context.chain.state, reference) ?? pending
}

export function requireCode(answer: unknown): void {
  if (!isBytes(String(answer))) throw unexpected('code', answer)
}

/** Hides what is in a block after the fork. */
export async function askPlaced(
  upstream: Upstream,
  method: string,
  params: readonly unknown[],
): Promise<Json> {
  const answer = (await upstream.ask(method, params, undefined, requirePlaced)) as Json
  requirePlaced(answer)
  return below(answer, upstream)
}

function requirePlaced(value: unknown): void {
  if (value === null) return
  const { number, blockNumber } = (typeof value === 'object' ? value : {}) as PlacedJson
  const of = blockNumber === undefined ? number : blockNumber
  if (of !== null && !isQuantity(of)) throw unexpected('a block or a transaction', value)
}

interface PlacedJson {
  readonly number?: unknown
  readonly blockNumber?: unknown
}

/** True if the state after the fork block is no longer the network's. */
export function isChanged(
  { tree }: ChainState,
  { number }: Upstream,
  place: bigint | Hash,
): boolean {
  if (place !== number) return false
  const record = tree.canonical.at(Number(number))
  return record === undefined || record.world.accounts.rootHash !== record.block.header.stateRoot
}

/** Null for what is in a block after the fork: this chain has other blocks there. */
export function below(answer: Json, { number }: Upstream): Json {
  const first = Array.isArray(answer) ? answer[0] : answer
  const { blockNumber, number: own } = (first ?? {}) as { blockNumber?: Json; number?: Json }
  const of = blockNumber ?? own
  if (of === null || (typeof of === 'string' && quantity(of) > number)) return null
  // the network's pending transactions are not known here
  return first !== null && typeof first === 'object' && 'blockNumber' in first && of === undefined
    ? null
    : answer
}

/** Characters. */
const LIMIT = 500_000_000

export async function jsonOf(result: Json | JsonText): Promise<Json> {
  if (!(result instanceof JsonText)) return result
  return result.value?.() ?? (JSON.parse(await result.text(LIMIT)) as Json)
}
