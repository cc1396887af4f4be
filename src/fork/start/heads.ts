// Remembers the fork blocks of earlier runs, so that a known number or hash needs no request.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import { type ForkChoice, isBlockHash, namesOneBlock } from '../../options/fork.ts'
import type { Json } from '../../rpc/schema.ts'
import type { RefusedByUpstream } from '../client/client.ts'
import { isPrivateUrl } from '../client/urls.ts'
import type { RemoteBlock } from '../network/header.ts'
import type { RecordingHead } from '../store/recordingfile.ts'
import type { ItemKey, Store } from '../store/store.ts'

export interface FoundBlock {
  readonly head: RecordingHead
  readonly block: RemoteBlock
  readonly newest: bigint
  readonly depth: bigint
  /** False: the network was not asked yet. */
  readonly isSeen: boolean
  /** The error for pruned state, from a background request at the start. */
  readonly pruned?: Promise<RefusedByUpstream | undefined> | undefined
}

/**
 * A number stands for a block only if reorgs cannot reach it, and never on local nodes. Chain ids are stored by the
 * URL's hash.
 * @param named the chain id that the user gives
 */
export function knownHead(
  store: Store,
  { block, urls }: ForkChoice,
  named: bigint | undefined,
): RecordingHead | undefined {
  if (block === undefined || !namesOneBlock(block)) return undefined
  // a restarted local node has other blocks at the same numbers
  const isKnown = isBlockHash(block) || !urls.some(isPrivateUrl)
  const chainId = named?.toString() ?? (isKnown ? chainIdIn(store, urls) : undefined)
  if (chainId === undefined) return undefined
  const hash = isBlockHash(block)
    ? block.toLowerCase()
    : store.get(numberKey(chainId, tagOrNumber(block)))
  if (typeof hash !== 'string') return undefined
  return store.get(headKey(chainId, hash)) as RecordingHead | undefined
}

export function keepHead(
  store: Store,
  { urls }: ForkChoice,
  { head, block, newest, depth }: FoundBlock,
): void {
  const { number } = block.header
  store.put(headKey(head.chainId, block.hash), head as unknown as Json)
  if (depth > 0n && number + depth <= newest) {
    store.put(numberKey(head.chainId, quantityFromBigint(number)), block.hash)
  }
  for (const url of urls) store.put(urlKey(url), head.chainId)
}

/** Undefined also if two URLs have different chains. */
function chainIdIn(store: Store, urls: readonly string[]): string | undefined {
  const known = new Set(urls.map((url) => store.get(urlKey(url))))
  const [chainId] = known
  return known.size === 1 && typeof chainId === 'string' ? chainId : undefined
}

function headKey(chainId: string, hash: string): ItemKey {
  return { of: `${chainId}/${hash}`, method: 'head', params: [] }
}

function numberKey(chainId: string, number: string): ItemKey {
  return { of: 'heads', method: 'head', params: [chainId, number] }
}

function urlKey(url: string): ItemKey {
  return { of: 'heads', method: 'eth_chainId', params: [keccakHash(new TextEncoder().encode(url))] }
}

export function tagOrNumber(text: string): string {
  return namesOneBlock(text) ? quantityFromBigint(BigInt(text)) : text
}
