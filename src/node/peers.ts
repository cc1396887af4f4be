// The peers of a chain, as other rooms see them; the links themselves (src/link) load when needed.
import type { Hash } from '../core/hex.ts'

export const LINK_PATH = '/.link'

export interface SyncStatus {
  readonly startingBlock: bigint
  readonly currentBlock: bigint
  readonly highestBlock: bigint
}

export interface PeerInfo {
  /** 64 hex digits without 0x, new at each start of the peer. */
  readonly id: string
  /** The peer's `--node-name`; may be empty. */
  readonly name: string
  readonly client: string
  /** Undefined where the peer connected to this node. */
  readonly url: string | undefined
  readonly host: string
  readonly address: string
  readonly port: number
  readonly head: Hash
  readonly number: bigint
  readonly totalDifficulty: bigint
  readonly isHeld: boolean
  readonly latencyMs: number | undefined
}

/** Counters of a peer, in the order of sco_peerList. */
export const REPUTATION_EVENTS = [
  'successfulHandshakes',
  'failedHandshakes',
  'invalidNetworks',
  'repeatedMessages',
  'validBlocks',
  'validTransactions',
  'invalidBlocks',
  'invalidTransactions',
  'invalidMessages',
  'timeoutMessages',
  'unexpectedMessages',
  'invalidHeader',
] as const

export type ReputationEvent = (typeof REPUTATION_EVENTS)[number]

export interface Reputation {
  /** The first 8 digits of a node id, or an IP address. */
  readonly id: string
  readonly type: 'node' | 'address'
  readonly counts: Readonly<Record<ReputationEvent, number>>
  readonly score: number
  readonly punishments: number
  readonly isGood: boolean
  /** Milliseconds since 1970; 0 while it is not banned. */
  readonly punishedUntil: number
}

export type PeerEvent =
  | { readonly kind: 'linked'; readonly peer: string; readonly where: string }
  | { readonly kind: 'unlinked'; readonly peer: string; readonly reason: string }
  | { readonly kind: 'refused'; readonly where: string; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly where: string; readonly reason: string }
  | { readonly kind: 'partition'; readonly peer: string; readonly isOn: boolean }
  | { readonly kind: 'banned'; readonly peer: string; readonly ms: number }
  | { readonly kind: 'rejected'; readonly peer: string; readonly reason: string }
  | { readonly kind: 'passedOver'; readonly peer: string; readonly reason: string }

export interface OwnNode {
  readonly id: string
  readonly name: string
}

/** The links of a node, whoever made them. */
export interface PeerLinks {
  /** Messages that wait, in both directions. */
  readonly queued: number
  /** True while peers are cut off, also later ones. */
  readonly isAllCut: boolean
  /** Links to a node, with retries while the chain runs. False when already linked. */
  add(url: string): boolean
  /** Takes a URL, name, id or id prefix; false when there is no such link. */
  remove(peer: string): boolean
  /** Ends all links and refuses new ones until `relink`. Returns how many there were. */
  unlink(): number
  relink(): void
}

export interface Peers {
  readonly self: OwnNode
  readonly links: PeerLinks
  /** Linked peers that are not cut off, the oldest link first. */
  list(): readonly PeerInfo[]
  all(): readonly PeerInfo[]
  syncing(): SyncStatus | undefined
  /** True while blocks of peers may replace this chain's own. */
  isFollowing(): boolean
  reputations(): readonly Reputation[]
  clearReputation(idOrAddress: string): boolean
  /** @throws {DevchainError} `INVALID_PARAMS` for anything but an address, a block of addresses or a known host */
  ban(address: string): Promise<void>
  unban(address: string): Promise<void>
  banned(): readonly string[]
  /** Cuts a peer off or joins it again; undefined means all, later ones too. Throws for an unknown peer. */
  partition(peer: string | undefined, isOn: boolean): readonly PeerInfo[]
  close(): void
}

/** Loads the peers of a chain at the first link or query. */
export interface PeersDoor {
  readonly now: Peers | undefined
  readonly takesLinks: boolean
  readonly load: () => Promise<Peers>
}

/** As in URLs: `127.0.0.1:8545`, `[::1]:8545`. */
export function printEndpoint({ address, port }: Pick<PeerInfo, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

export function nameOf({ id, name }: Pick<PeerInfo, 'id' | 'name'>): string {
  return name === '' ? id.slice(0, 8) : name
}
