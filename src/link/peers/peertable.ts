// The peer table: accepts and refuses nodes, and redials lost ones.
import type { Hash } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import {
  nameOf,
  type PeerEvent,
  type PeerLinks,
  printEndpoint,
  type ReputationEvent,
} from '../../node/peers.ts'
import { type Hello, judge, otherGenesis } from '../protocol/handshake.ts'
import { Intake } from '../protocol/intake.ts'
import { Throttle } from '../protocol/limits.ts'
import { Link, type NodeOptions, type PeerMessage } from '../protocol/link.ts'
import { LinkError } from '../protocol/linkerror.ts'
import { encodeMessage } from '../protocol/messages.ts'
import type { Pipe, RemoteEnd } from '../protocol/pipe.ts'
import { pause } from '../protocol/timing.ts'
import type { AddressList } from './addresses.ts'
import { Dialer } from './dialer.ts'
import { idOf, isMeant, Peer, type PeerEndpoint } from './peer.ts'
import type { Reputations } from './reputation.ts'

export interface TableOptions extends NodeOptions {
  readonly maxPeers: number
  readonly dial: (url: string) => Promise<Pipe>
  readonly reputations: Reputations
  readonly bans: AddressList
  readonly forkIds: () => readonly Uint8Array[]
  /** @returns false if it is too late to adopt another genesis */
  readonly adopt: (genesis: Hash, genesisTime: bigint, peer: string) => Promise<boolean>
  /** A peer joined, or was cut off or rejoined. */
  readonly present: (peer: Peer) => void
  readonly gone: (peer: Peer) => void
  readonly message: (peer: Peer, message: PeerMessage) => Promise<void> | void
  readonly log: (event: PeerEvent) => void
}

/** Incoming connections per second, and in a burst. */
const CONNECTIONS = [20, 50] as const

const MAX_DIALERS = 100

/** Milliseconds before the same refusal is logged again. */
const LOG_AGAIN_MS = 60_000

const DUPLICATE = 'these two nodes are linked already'

const UNLINKED = 'its user unlinked this node (devchain_unlink)'

export class PeerTable implements PeerLinks {
  readonly #options: TableOptions
  readonly #peers = new Map<string, Peer>()
  readonly #dialers = new Map<string, Dialer>()
  readonly #nodeAt = new Map<string, string>()
  readonly #links = new Set<Link>()
  readonly #intake = new Intake()
  readonly #connections: Throttle
  readonly #loggedPeers = new Set<string>()
  readonly #refusals = new LruCache<string, number>(100)
  readonly #cut = new Set<string>()
  /** True while new peers are cut off too. */
  isAllCut = false
  #isUnlinked = false
  #isClosed = false

  constructor(options: TableOptions) {
    this.#options = options
    this.#connections = new Throttle(...CONNECTIONS, options.timing.now())
  }

  /** The longest linked first. */
  all(): readonly Peer[] {
    return [...this.#peers.values()]
  }

  /** Without those cut off. */
  present(): readonly Peer[] {
    return this.all().filter((peer) => peer.isPresent)
  }

  get queued(): number {
    return [...this.#links].reduce((sum, { queued }) => sum + queued, 0)
  }

  /** @returns false if this URL is dialed already */
  add(url: string): boolean {
    if (this.#dialers.has(url) || this.#dialers.size >= MAX_DIALERS) return false
    const { timing, dial, log } = this.#options
    const dialer = new Dialer({
      timing,
      dial: () => dial(url),
      isLinked: () =>
        this.#isUnlinked || this.#isLinkedAt(url) || this.#peers.size >= this.#options.maxPeers,
      connected: (pipe) => this.#connect(pipe, url),
      failed: (reason) => log({ kind: 'unreachable', where: url, reason }),
    })
    this.#dialers.set(url, dialer)
    dialer.start()
    return true
  }

  remove(wanted: string): boolean {
    const meant = this.all().filter((peer) => isMeant(peer, wanted))
    const urls = [...this.#dialers.keys()].filter(
      (url) => url === wanted || meant.some(({ id }) => this.#nodeAt.get(url) === id),
    )
    for (const url of urls) {
      this.#dialers.get(url)?.end()
      this.#dialers.delete(url)
    }
    for (const { link } of meant) link.close('its user removed this peer')
    return meant.length + urls.length > 0
  }

  /** Resolves once each named node was tried, or after a timeout. */
  async settled(ms: number): Promise<void> {
    const { timing } = this.#options
    const isSettled = (): boolean =>
      [...this.#dialers].every(([url, each]) => each.wasTried || this.#isLinkedAt(url))
    const ends = timing.now() + ms
    while (!isSettled() && timing.now() < ends && !this.#isClosed) await pause(timing, 2)
  }

  accept(pipe: Pipe): void {
    const { timing, maxPeers } = this.#options
    const refuse = (reason: string): void => {
      pipe.listen({ message: () => undefined, part: () => undefined, end: () => undefined })
      pipe.send(encodeMessage({ kind: 'goodbye', reason }))
      pipe.close()
    }
    const isTooOften = !this.#connections.take(timing.now())
    if (this.#isUnlinked) refuse(UNLINKED)
    else if (isTooOften || this.#links.size - this.#peers.size >= maxPeers + 5) {
      refuse('too many connections at once')
    } else void this.#connect(pipe, undefined)
  }

  dropBanned(): void {
    for (const peer of this.all()) {
      if (this.#options.bans.has(peer.endpoint.remote.address)) peer.link.close('banned')
    }
  }

  /** @param peers `all` includes later ones */
  partition(peers: readonly Peer[] | 'all', isOn: boolean): void {
    if (peers === 'all') {
      this.isAllCut = isOn
      this.#cut.clear()
    }
    for (const peer of peers === 'all' ? this.all() : peers) {
      if (isOn) this.#cut.add(peer.id)
      else this.#cut.delete(peer.id)
      if (peer.link.isHeldHere === isOn) continue
      peer.link.hold(isOn)
      this.#options.log({ kind: 'partition', peer: nameOf(peer), isOn })
    }
  }

  unlink(): number {
    this.#isUnlinked = true
    const count = this.#peers.size
    for (const link of [...this.#links]) link.close(UNLINKED)
    return count
  }

  relink(): void {
    this.#isUnlinked = false
    for (const dialer of this.#dialers.values()) dialer.start()
  }

  close(): void {
    this.#isClosed = true
    for (const dialer of this.#dialers.values()) dialer.end()
    for (const link of [...this.#links]) link.close('the node is stopping')
  }

  /** Counts an event, and disconnects a peer that it bans. */
  note(peer: Peer, event: ReputationEvent, times = 1): void {
    const { reputations } = this.#options
    const { id, endpoint } = peer
    const ms = reputations.note({ id, address: endpoint.remote.address }, event, times)
    if (ms === undefined) return
    this.#options.log({ kind: 'banned', peer: nameOf(peer), ms })
    peer.link.close(`banned for ${ms / 1000} s: its reputation is too low`)
  }

  /** @returns resolves at the end of the connection: true if its peer was taken */
  #connect(pipe: Pipe, url: string | undefined): Promise<boolean> {
    const { timing } = this.#options
    const endpoint: PeerEndpoint = { url, remote: pipe.remote }
    if (this.#options.bans.has(pipe.remote.address) || this.#isUnlinked || this.#isClosed) {
      pipe.destroy()
      return Promise.resolve(false)
    }
    const began = timing.now()
    return new Promise((resolve) => {
      let known: Hello | undefined
      let peer: Peer | undefined
      const note = (event: ReputationEvent): number | undefined => {
        const who = { id: known && idOf(known), address: pipe.remote.address }
        return this.#options.reputations.note(who, event)
      }
      const link: Link = new Link({
        ...this.#options,
        pipe,
        intake: this.#intake,
        links: () => Math.max(1, this.#links.size),
        listener: {
          greet: async (given) => {
            known = given
            if (url !== undefined) this.#nodeAt.set(url, idOf(given))
            return this.#judge(given, url, link)
          },
          linked: () => {
            if (known === undefined) return
            // other peers may have joined since
            const refusal = this.#roomRefusal(idOf(known), url)
            if (refusal !== undefined) return link.close(refusal)
            this.#peers.get(idOf(known))?.link.close(DUPLICATE)
            peer = new Peer(known, endpoint, link)
            this.#enter(peer)
          },
          message: (message) => peer && this.#options.message(peer, message),
          event: (event) => void (peer === undefined ? note(event) : this.note(peer, event)),
          held: () => peer && this.#options.present(peer),
          end: (reason, event) => {
            this.#links.delete(link)
            const ms = event && note(event)
            if (peer !== undefined) this.#leave(peer, reason, timing.now() - began)
            else if (!this.#isClosed && reason !== DUPLICATE) {
              this.logRefused(endpoint.remote, reason, endpoint.url)
            }
            const who = peer ? nameOf(peer) : whereOf(endpoint)
            if (ms !== undefined) this.#options.log({ kind: 'banned', peer: who, ms })
            resolve(peer !== undefined)
          },
        },
      })
      this.#links.add(link)
    })
  }

  /** @throws {LinkError} why a node is refused */
  async #judge(given: Hello, url: string | undefined, link: Link): Promise<boolean> {
    const { hello, forkIds, adopt, reputations } = this.#options
    const own = hello()
    const verdict = judge(own, given, forkIds())
    const id = idOf(given)
    const bannedMs = reputations.bannedMs(id)
    if (bannedMs > 0) throw new LinkError(`banned for another ${Math.ceil(bannedMs / 1000)} s`)
    if (verdict === 'wait') return false
    if (verdict === 'adopt') {
      if (!(await adopt(given.genesis, given.genesisTime, nameOf({ id, name: given.name }))))
        throw otherGenesis(own, given)
      link.greetAgain()
    }
    const refusal = this.#roomRefusal(id, url)
    if (refusal !== undefined) throw new LinkError(refusal)
    return true
  }

  #roomRefusal(id: string, url: string | undefined): string | undefined {
    const { maxPeers } = this.#options
    const other = this.#peers.get(id)
    if (other !== undefined) return this.#isPreferred(other, id, url) ? undefined : DUPLICATE
    if (this.#peers.size < maxPeers) return undefined
    return `it has the most peers it accepts: ${maxPeers}`
  }

  /** Of two links between the same nodes, both sides keep the one dialed by the lower id. */
  #isPreferred(other: Peer, id: string, url: string | undefined): boolean {
    const isMadeHere = url !== undefined
    // same direction twice: the old connection is broken
    if ((other.endpoint.url !== undefined) === isMadeHere) return true
    return idOf(this.#options.hello()) < id === isMadeHere
  }

  #enter(peer: Peer): void {
    const { log, present } = this.#options
    this.#peers.set(peer.id, peer)
    this.note(peer, 'successfulHandshakes')
    if (!this.#loggedPeers.has(peer.id)) {
      log({ kind: 'linked', peer: nameOf(peer), where: whereOf(peer.endpoint) })
    }
    this.#loggedPeers.add(peer.id)
    if (this.isAllCut || this.#cut.has(peer.id)) peer.link.hold(true)
    present(peer)
  }

  #leave(peer: Peer, reason: string, lastedMs: number): void {
    if (this.#peers.get(peer.id) !== peer) return
    this.#peers.delete(peer.id)
    const { log, gone } = this.#options
    gone(peer)
    // another link replaces it
    if (reason === DUPLICATE) return
    this.#loggedPeers.delete(peer.id)
    if (this.#isClosed) return
    log({ kind: 'unlinked', peer: nameOf(peer), reason })
    for (const [url, dialer] of this.#dialers) {
      if (this.#nodeAt.get(url) === peer.id) dialer.lost(lastedMs)
    }
  }

  /** Logs the same refusal of an address only now and then, as nodes redial. */
  logRefused(remote: RemoteEnd, reason: string, url?: string): void {
    const { timing, log } = this.#options
    const refusal = `${url ?? remote.address} ${reason}`
    const now = timing.now()
    if (now - (this.#refusals.get(refusal) ?? Number.NEGATIVE_INFINITY) < LOG_AGAIN_MS) return
    this.#refusals.set(refusal, now)
    log({ kind: 'refused', where: whereOf({ url, remote }), reason })
  }

  #isLinkedAt(url: string): boolean {
    return this.#peers.has(this.#nodeAt.get(url) ?? '')
  }
}

function whereOf({ url, remote }: PeerEndpoint): string {
  return url ?? printEndpoint(remote)
}
