// A linked node, and what is known about it.
import { type Hash, hexFromBytes } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import { type PeerInfo, printEndpoint } from '../../node/peers.ts'
import type { Hello } from '../protocol/handshake.ts'
import type { Link } from '../protocol/link.ts'
import type { RemoteEnd } from '../protocol/pipe.ts'

export interface PeerHead {
  readonly hash: Hash
  readonly number: bigint
  readonly totalDifficulty: bigint
}

/** Hashes of blocks and transactions that the peer has, so they are not announced to it. */
const KNOWN = 4_096

export interface PeerEndpoint {
  /** Undefined: it connected to this node. */
  readonly url: string | undefined
  readonly remote: RemoteEnd
}

export class Peer {
  /** 64 hex digits. */
  readonly id: string
  readonly name: string
  readonly client: string
  readonly endpoint: PeerEndpoint
  readonly link: Link
  head: PeerHead
  /** The newest local block announced to it. */
  announcedHead: Hash | undefined
  readonly #known = new LruCache<number, true>(KNOWN)

  constructor(hello: Hello, endpoint: PeerEndpoint, link: Link) {
    this.id = idOf(hello)
    this.name = hello.name
    this.client = hello.client
    this.endpoint = endpoint
    this.link = link
    this.head = { hash: hello.head, number: hello.number, totalDifficulty: hello.totalDifficulty }
    this.note(hello.head)
  }

  get isPresent(): boolean {
    return this.link.isLinked && !this.link.isHeld
  }

  knows(hash: Hash): boolean {
    return this.#known.get(beginningOf(hash)) === true
  }

  note(hash: Hash): void {
    this.#known.set(beginningOf(hash), true)
  }

  get info(): PeerInfo {
    const { id, name, client, link } = this
    const { url, remote } = this.endpoint
    const { hash: head, number, totalDifficulty } = this.head
    const { isHeld, latencyMs } = link
    const { address, port } = remote
    const host = url === undefined ? '' : new URL(url).hostname
    const where = { url, host, address, port }
    return { id, name, client, ...where, head, number, totalDifficulty, isHeld, latencyMs }
  }
}

/** The first 6 bytes: no collisions among so few hashes, in a fifth of the memory. */
function beginningOf(hash: Hash): number {
  return Number.parseInt(hash.slice(2, 14), 16)
}

export function idOf({ nodeId }: Hello): string {
  return hexFromBytes(nodeId).slice(2)
}

/** True if `wanted` is the peer's URL, name, address, or id or the start of one. */
export function isMeant({ id, name, endpoint }: Peer, wanted: string): boolean {
  const { url, remote } = endpoint
  const isStart = /^[0-9a-f]{4,64}$/i.test(wanted) && id.startsWith(wanted.toLowerCase())
  const endpoints = [url, url?.replace(/^wss?:\/\//, ''), printEndpoint(remote)]
  return isStart || wanted === name || endpoints.includes(wanted.replace(/\/$/, ''))
}
