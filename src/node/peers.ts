// Other chains that a chain is linked to, as others see them. What links stands above (src/link), and loads when needed.
import type { Hash } from '../core/hex.ts'

/** Where links are taken, on the port of the server. */
export const LINK_PATH = '/.link'

export interface SyncStatus {
  readonly startingBlock: bigint
  readonly currentBlock: bigint
  readonly highestBlock: bigint
}

export interface PeerInfo {
  /** 64 hex digits, without 0x: another at each start of the peer. */
  readonly id: string
  /** As its user calls it (`--node-name`); may be empty. */
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
  /** True while it is cut off (devchain_partition). */
  readonly isHeld: boolean
  readonly latencyMs: number | undefined
}

/** What is counted of a peer, in the order of sco_peerList. */
const DEED_NAMES = [
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

export type Deed = (typeof DEED_NAMES)[number]

export const DEEDS: readonly Deed[] = DEED_NAMES

export interface Reputation {
  /** The first 8 digits of a node id, or an IP address. */
  readonly id: string
  readonly type: 'node' | 'address'
  readonly counts: Readonly<Record<Deed, number>>
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

export interface Peers {
  readonly self: OwnNode
  /** Those that are linked and not cut off, the longest linked first. */
  list(): readonly PeerInfo[]
  /** Those that are cut off as well. */
  all(): readonly PeerInfo[]
  /** Messages that wait to be sent or handled. */
  queueSize(): number
  /** Undefined while nothing is imported. */
  syncing(): SyncStatus | undefined
  /** True while blocks of peers may take the place of one's own. */
  isFollowing(): boolean
  reputations(): readonly Reputation[]
  clearReputation(idOrAddress: string): boolean
  /** @throws {DevchainError} `INVALID_PARAMS` for what is no address, block of addresses or known host */
  ban(address: string): Promise<void>
  unban(address: string): Promise<void>
  banned(): readonly string[]
  /** Links to a node for as long as the chain runs, trying again where it is not there. False when it is linked to already. */
  add(url: string): boolean
  /** Ends the link to a node, by its URL, name, id or the beginning of it; false when there is none. */
  remove(peer: string): boolean
  /** Cuts a peer off, or joins it again; where none is named all of them, and those to come. Throws for one that is not there. */
  partition(peer: string | undefined, isOn: boolean): readonly PeerInfo[]
  isPartitioned(): boolean
  /** Ends all links; there are no others until `link`. @returns how many there were */
  unlink(): number
  link(): void
  close(): void
}

/** The way to the peers of a chain: they are loaded with the first link, or when they are asked for something. */
export interface PeersDoor {
  /** Undefined while nothing was ever linked, banned or counted. */
  readonly now: Peers | undefined
  /** False with --no-link. */
  readonly takesLinks: boolean
  readonly load: () => Promise<Peers>
}

/** An address and a port as URLs have them: `127.0.0.1:8545`, `[::1]:8545`. */
export function printEndpoint({ address, port }: Pick<PeerInfo, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** How a peer is called in the log: by its name, or the beginning of its id. */
export function nameOf({ id, name }: Pick<PeerInfo, 'id' | 'name'>): string {
  return name === '' ? id.slice(0, 8) : name
}
