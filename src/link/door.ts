// The public interface of peers: it loads them when a link comes, or when the options name nodes.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { DevchainError } from '../core/errors.ts'
import { lazy } from '../core/lrucache.ts'
import { LINK_PATH, type PeersDoor } from '../node/peers.ts'
import type { PeerNetwork, PeerNetworkOptions } from './network.ts'

const FORK = 'a fork of another network cannot be linked to other chains'

export class LinkEntrance implements PeersDoor {
  readonly path: string = LINK_PATH
  readonly takesLinks: boolean
  readonly #options: PeerNetworkOptions
  now: PeerNetwork | undefined
  readonly load: () => Promise<PeerNetwork> = lazy(() => this.#open())

  constructor(options: PeerNetworkOptions) {
    this.#options = options
    this.takesLinks = !options.settings.noLink
    options.chain.onClose(() => this.now?.close())
  }

  async start(): Promise<void> {
    if (this.#options.settings.peer.length > 0) await (await this.load()).start()
  }

  /** @returns why a socket is refused; undefined: it was taken */
  readonly take = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<string | undefined> => {
    if (this.#isFork) return FORK
    return (await this.load()).accept(request, socket, head)
  }

  /** True: the chain starts from another network's state, which no peer has. */
  get #isFork(): boolean {
    return this.#options.chain.state.tree.network !== undefined
  }

  async #open(): Promise<PeerNetwork> {
    if (this.#isFork) throw new DevchainError('METHOD_NOT_SUPPORTED', FORK)
    const { PeerNetwork } = await import('./network.ts')
    const network = new PeerNetwork(this.#options)
    this.now = network
    return network
  }
}
