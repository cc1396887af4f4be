// Blocks that earlier forks began with: one that is named by number or hash is forked again without asking anybody.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import type { ForkChoice } from '../../options/fork.ts'
import type { Json } from '../../rpc/schema.ts'
import type { RefusedByUpstream } from '../client/client.ts'
import { isPrivateUrl } from '../client/urls.ts'
import type { RemoteBlock } from '../network/header.ts'
import type { CassetteHead } from '../store/cassette.ts'
import type { ItemKey, Store } from '../store/store.ts'

/** The block to go on from, and what else is asked at the start. */
export interface Found {
  readonly head: CassetteHead
  readonly block: RemoteBlock
  /** Number of the network's newest block. */
  readonly newest: bigint
  /** Blocks that a reorganization may take. */
  readonly depth: bigint
  /** False: nobody was asked yet. */
  readonly isSeen: boolean
  /** What the network says of the block's state, where it does not keep that: asked beside what the start waits for. */
  readonly pruned?: Promise<RefusedByUpstream | undefined> | undefined
}

/**
 * What earlier forks found. A number belongs to a block only where reorganizations do not reach it, and never on nodes of one's own.
 * Which chain a URL has is kept by the URL's hash.
 */
export class Heads {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** @param named the network's chain id, where the user names it */
  find({ block, urls }: ForkChoice, named: bigint | undefined): CassetteHead | undefined {
    if (block === undefined || !/^(0x|\d)/.test(block)) return undefined
    const store = this.#store
    // a number is another block once a node of one's own was begun anew
    const isKnown = isHash(block) || !urls.some(isPrivateUrl)
    const chainId = named?.toString() ?? (isKnown ? chainIdIn(store, urls) : undefined)
    if (chainId === undefined) return undefined
    const hash = isHash(block)
      ? block.toLowerCase()
      : store.get(numberKey(chainId, tagOrNumber(block)))
    if (typeof hash !== 'string') return undefined
    return store.get(headKey(chainId, hash)) as CassetteHead | undefined
  }

  keep({ urls }: ForkChoice, { head, block, newest, depth }: Found): void {
    const { number } = block.header
    const store = this.#store
    store.put(headKey(head.chainId, block.hash), head as unknown as Json)
    if (depth > 0n && number + depth <= newest) {
      store.put(numberKey(head.chainId, quantityFromBigint(number)), block.hash)
    }
    for (const url of urls) store.put(urlKey(url), head.chainId)
  }
}

/** Undefined also where two URLs are of two chains. */
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

export function isHash(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

/** A block as it is asked for by number or tag. */
export function tagOrNumber(text: string): string {
  return /^(\d|0x)/.test(text) ? quantityFromBigint(BigInt(text)) : text
}
