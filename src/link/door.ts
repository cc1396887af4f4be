// The one way to the peers of a chain. What links it is loaded when somebody comes, or somebody is to be found.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { DevchainError } from '../core/errors.ts'
import type { Chain } from '../node/chain/chain.ts'
import { LINK_PATH, type PeerEvent, type PeersDoor, type SyncStatus } from '../node/peers.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { Network } from './network.ts'

const FORK = 'a fork of another network is linked to no other chain'

export interface DoorOptions {
  readonly chain: Chain
  readonly settings: Pick<
    DevchainSettings,
    'peer' | 'nodeName' | 'follow' | 'mineForPeers' | 'noLink' | 'linkHost' | 'maxPeers'
  >
  readonly client: string
  readonly tell: (event: PeerEvent) => void
  /** An import begins, or none goes on any more. */
  readonly onSyncing: (status: SyncStatus | undefined) => void
  readonly onBug: (error: unknown) => void
}

export class LinkEntrance implements PeersDoor {
  readonly path: string = LINK_PATH
  readonly takesLinks: boolean
  readonly #options: DoorOptions
  #now: Network | undefined
  #loading: Promise<Network> | undefined

  constructor(options: DoorOptions) {
    this.#options = options
    this.takesLinks = !options.settings.noLink
    options.chain.onClose(() => this.#now?.close())
  }

  get now(): Network | undefined {
    return this.#now
  }

  readonly load = (): Promise<Network> => {
    this.#loading ??= this.#open()
    return this.#loading
  }

  /** Links to the nodes that the options name, if any. Resolves when each was tried. */
  async start(): Promise<void> {
    if (this.#options.settings.peer.length > 0) await (await this.load()).start()
  }

  /** @returns why a socket is not taken; undefined: it was taken over */
  readonly take = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<string | undefined> => {
    if (this.#isFork) return FORK
    const network = await this.load()
    const refusal = this.takesLinks
      ? network.refusalOf(request)
      : 'this node takes no links (--no-link)'
    if (refusal === undefined) network.accept(request, socket, head)
    else network.tellRefused(request, refusal)
    return refusal
  }

  /** True: what the chain begins with is another network's, and no peer has it. */
  get #isFork(): boolean {
    return this.#options.chain.state.tree.network !== undefined
  }

  async #open(): Promise<Network> {
    if (this.#isFork) throw new DevchainError('METHOD_NOT_SUPPORTED', FORK)
    const { Network } = await import('./network.ts')
    const { chain, settings, client, tell, onSyncing, onBug } = this.#options
    const network = new Network({
      chain,
      peers: settings.peer,
      name: settings.nodeName ?? '',
      client,
      maxPeers: settings.maxPeers,
      follows: settings.follow === 'on',
      minesForPeers: settings.mineForPeers,
      linkHosts: settings.linkHost,
      tell,
      onSyncing,
      onBug,
    })
    this.#now = network
    return network
  }
}
