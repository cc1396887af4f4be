// The peers of one chain: combines table, synchronization and gossip, and serves the RPC methods.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { DevchainError, printValue } from '../core/errors.ts'
import type { Hash } from '../core/hex.ts'
import { yielder } from '../core/yield.ts'
import type { Chain } from '../node/chain/chain.ts'
import { withGenesisTime } from '../node/commands/time.ts'
import type { OwnNode, PeerEvent, PeerInfo, Peers, Reputation, SyncStatus } from '../node/peers.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { AddressList } from './peers/addresses.ts'
import { isMeant, type Peer } from './peers/peer.ts'
import { PeerTable } from './peers/peertable.ts'
import { Reputations } from './peers/reputation.ts'
import { accept, dial, remoteOf } from './peers/sockets.ts'
import { forkIdsOf, helloOf, isOpen, type NodeIdentity } from './protocol/handshake.ts'
import { LIMITS, type Limits } from './protocol/limits.ts'
import type { PeerMessage } from './protocol/link.ts'
import type { Pipe, RemoteEnd } from './protocol/pipe.ts'
import { systemTiming, type Timing } from './protocol/timing.ts'
import { Gossip } from './sync/gossip.ts'
import { blocksFor, headersFor, transactionsFor } from './sync/serving.ts'
import { Synchronizer } from './sync/synchronizer.ts'

export interface PeerNetworkOptions {
  readonly chain: Chain
  readonly settings: Pick<
    DevchainSettings,
    'peer' | 'nodeName' | 'follow' | 'mineForPeers' | 'noLink' | 'linkHost' | 'maxPeers'
  >
  /** Program and version. */
  readonly client: string
  readonly log: (event: PeerEvent) => void
  /** Undefined when an import ends. */
  readonly onSyncing: (status: SyncStatus | undefined) => void
  readonly onBug: (error: unknown) => void
  /** Tests replace the system's. */
  readonly timing?: Timing
  readonly limits?: Partial<Limits>
  readonly dial?: (url: string) => Promise<Pipe>
}

/** Milliseconds of work for peers before users get a turn; an import has its own. */
const TURN_MS = 5

/** Milliseconds to wait at the start for the first link. */
const FIRST_LINK_MS = 1_000

export class PeerNetwork implements Peers {
  readonly self: OwnNode
  readonly links: PeerTable
  readonly #options: PeerNetworkOptions
  readonly #reputations: Reputations
  readonly #bans = new AddressList()
  readonly #allowed: AddressList
  readonly #sync: Synchronizer
  readonly #gossip: Gossip
  readonly #stopListening: () => void

  constructor(options: PeerNetworkOptions) {
    const { chain, settings, client, timing = systemTiming, log, onBug } = options
    const { nodeName: name = '', maxPeers } = settings
    this.#options = options
    const hosts = settings.linkHost.filter((host) => host !== '*')
    this.#allowed = AddressList.of('127.0.0.0/8', '::1', ...hosts)
    this.#reputations = new Reputations(timing)
    const yieldIfDue = yielder(TURN_MS)
    const identity: NodeIdentity = { nodeId: chain.environment.random(32), name, client }
    this.self = { id: Buffer.from(identity.nodeId).toString('hex'), name }
    this.links = new PeerTable({
      timing,
      limits: { ...LIMITS, ...options.limits },
      maxPeers,
      dial: options.dial ?? dial,
      reputations: this.#reputations,
      bans: this.#bans,
      hello: () => helloOf(chain.state, identity),
      forkIds: () => forkIdsOf(chain.state),
      adopt: (genesis, time, peer) => adoptGenesis(chain, genesis, time, peer),
      present: (peer) => this.#greet(peer),
      gone: (peer) => this.#gossip.forget(peer),
      message: (peer, message) => this.#handle(peer, message),
      log,
      yieldIfDue,
      onBug,
    })
    const shared = {
      chain,
      timing,
      peers: () => this.links.present(),
      note: this.links.note.bind(this.links),
      log,
      yieldIfDue,
      onBug,
    }
    this.#sync = new Synchronizer(shared, options.onSyncing)
    const minesForPeers = settings.mineForPeers
    this.#gossip = new Gossip({ ...shared, minesForPeers, takesImpersonated: this.isFollowing() })
    this.#stopListening = chain.onChange((change) => this.#gossip.note(change))
  }

  async start(): Promise<void> {
    const { peer: urls } = this.#options.settings
    for (const url of urls) this.links.add(url)
    if (urls.length > 0) await this.links.settled(FIRST_LINK_MS)
  }

  /** @returns why a socket is refused; undefined: it is taken */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): string | undefined {
    const remote = remoteOf(request.socket)
    const refusal = this.#refusalOf(remote)
    if (refusal === undefined) accept(request, socket, head, (pipe) => this.take(pipe))
    else this.links.logRefused(remote, refusal)
    return refusal
  }

  take(pipe: Pipe): void {
    this.links.accept(pipe)
  }

  #refusalOf({ address }: RemoteEnd): string | undefined {
    const { linkHost, noLink } = this.#options.settings
    if (noLink) return 'this node refuses links (--no-link)'
    if (this.#bans.has(address)) return `${address} is banned`
    if (this.#reputations.bannedMs(address) > 0) return `${address} is banned`
    if (linkHost.includes('*') || this.#allowed.has(address)) return undefined
    return `links from ${address} are refused: allow them with --link-host ${address}`
  }

  list(): readonly PeerInfo[] {
    return this.links.present().map(({ info }) => info)
  }

  all(): readonly PeerInfo[] {
    return this.links.all().map(({ info }) => info)
  }

  get isBusy(): boolean {
    return this.#sync.isBusy || this.#gossip.isBusy
  }

  syncing(): SyncStatus | undefined {
    return this.#sync.status
  }

  isFollowing(): boolean {
    return this.#options.settings.follow === 'on'
  }

  reputations(): readonly Reputation[] {
    return this.#reputations.list(this.#options.chain.environment.now())
  }

  clearReputation(idOrAddress: string): boolean {
    return this.#reputations.clear(idOrAddress)
  }

  async ban(address: string): Promise<void> {
    await this.#bans.add(address)
    this.links.dropBanned()
  }

  async unban(address: string): Promise<void> {
    await this.#bans.remove(address)
  }

  banned(): readonly string[] {
    return this.#bans.texts()
  }

  partition(wanted: string | undefined, isOn: boolean): readonly PeerInfo[] {
    if (wanted === undefined) {
      this.links.partition('all', isOn)
      return this.all()
    }
    const meant = this.#meant(wanted)
    this.links.partition(meant, isOn)
    return meant.map(({ info }) => info)
  }

  close(): void {
    this.#stopListening()
    this.#sync.close()
    this.#gossip.close()
    this.links.close()
  }

  #meant(wanted: string): readonly Peer[] {
    const all = this.links.all()
    const meant = all.filter((peer) => isMeant(peer, wanted))
    if (meant.length > 0) return meant
    const known = all.map(({ id, name, endpoint }) => name || (endpoint.url ?? id.slice(0, 8)))
    const expected = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
    throw new DevchainError('NOT_FOUND', `peer ${printValue(wanted)} not found: ${expected}`)
  }

  #greet(peer: Peer): void {
    if (!peer.isPresent) return
    this.#gossip.greet(peer)
    if (this.isFollowing()) this.#sync.rejoined(peer)
  }

  #handle(peer: Peer, message: PeerMessage): void {
    const { state } = this.#options.chain
    const { link } = peer
    if (message.kind === 'announce') this.#heardOfBlocks(peer, message)
    else if (message.kind === 'pooled') this.#gossip.heard(peer, message)
    else if (message.kind === 'getHeaders') {
      // a peer that asks for an abandoned branch must see the reorg first
      this.#gossip.announceNow()
      link.send(headersFor(state, message))
    } else if (message.kind === 'getBlocks') link.send(blocksFor(state, message, link.replyBytes))
    else if (message.kind === 'getTransactions') {
      link.send(transactionsFor(state, message, link.replyBytes))
    }
  }

  #heardOfBlocks(peer: Peer, message: Extract<PeerMessage, { readonly kind: 'announce' }>): void {
    const { head: hash, number, totalDifficulty, blocks } = message
    peer.head = { hash, number, totalDifficulty }
    peer.note(hash)
    if (!this.isFollowing()) return
    this.#sync.offer(peer, blocks)
    this.#sync.wake()
  }
}

/** Adopts the time of another genesis, unless blocks were built on this one. */
function adoptGenesis(chain: Chain, genesis: Hash, time: bigint, peer: string): Promise<boolean> {
  return chain.update(
    (state) => {
      const adopted = isOpen(state) ? withGenesisTime(state, time, genesis) : undefined
      return { state: adopted ?? state, value: adopted !== undefined }
    },
    { peer },
  )
}
