// createDevchain: the programmatic API. What it puts together is in app/.

import type { Backend } from './app/backend.ts'
import type { Hooks } from './app/common.ts'
import { openFront } from './app/front.ts'
import { type DevchainOptions, readDevchainOptions } from './app/settings.ts'
import { DevchainError, printValue } from './core/errors.ts'
import { type Address, type Hex, hexFromBytes } from './core/hex.ts'
import { addresses, keyOf } from './node/accounts/accounts.ts'
import type { Chain } from './node/chain/chain.ts'
import type { Node } from './node/node.ts'
import type { PeerInfo } from './node/peers.ts'
import type { DevchainSettings } from './options/derived.ts'
import { OPTIONS } from './options/table.ts'
import { readPeerUrl } from './options/values.ts'
import type { CoverageReport } from './project/coverage/coverage.ts'
import type { GasRow, GasSummary } from './project/gas/report.ts'

export type { Hooks } from './app/common.ts'
export type { CallFailure, ObservedCall, Observer } from './app/observer.ts'
export type { DevchainOptions } from './app/settings.ts'
export type { RpcError } from './rpc/errors.ts'

/** An unlocked account of the start. */
export interface DevAccount {
  readonly address: Address
  readonly privateKey: Hex
}

/** Where a devchain listens. */
export interface Endpoints {
  /** `http://127.0.0.1:8545` */
  readonly url: string
  /** `ws://127.0.0.1:8545` */
  readonly wsUrl: string
  readonly port: number
}

/** The chains that a chain is linked to. */
export interface LinkedChains {
  /** Those that are linked and not cut off. */
  readonly list: () => readonly PeerInfo[]
  /** Links to a chain, by a URL such as `ws://127.0.0.1:8546`; false where there is such a link already. */
  readonly add: (url: string) => Promise<boolean>
  /** Ends a link, by URL, name or id. */
  readonly remove: (peer: string) => Promise<boolean>
  /** Cuts a peer off or joins it again; all of them, and those to come, where none is named. */
  readonly partition: (isOn: boolean, peer?: string) => Promise<readonly PeerInfo[]>
}

/** A running chain. */
export interface Devchain {
  /**
   * EIP-1193: answers a method as it would be answered over HTTP.
   * @throws {RpcError} with the code, message and data that HTTP would answer
   * @see https://eips.ethereum.org/EIPS/eip-1193
   */
  readonly request: (request: {
    readonly method: string
    readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>
  }) => Promise<unknown>
  /** The chain itself, below any method, with its filters and its work for miners. */
  readonly node: Node
  readonly accounts: readonly DevAccount[]
  /** Resolves when the artifacts that are there at the start have been read. They are read in the background anyway. */
  readonly artifactsRead: () => Promise<void>
  /** Resolves when the artifacts that are on the disk now have been read. */
  readonly artifactsReadAgain: () => Promise<void>
  /** What the functions of the user's project used, in all blocks since its artifacts were read. */
  readonly gasReport: () => Promise<readonly GasRow[]>
  /** The same, with why it is empty or not whole. */
  readonly gasSummary: () => Promise<GasSummary>
  /**
   * Which lines, functions and branches calls and transactions have reached, where `coverage` names a file.
   * @throws {RpcError} where it does not
   */
  readonly coverage: () => Promise<CoverageReport>
  /** Writes them to that file, once; `close` does so too. Rejects with node's error where it cannot be written. */
  readonly writeCoverage: () => Promise<CoverageReport>
  readonly peers: LinkedChains
  /** Starts the server, or says where it listens already. Rejects with node's `EADDRINUSE` when the port is taken. */
  readonly listen: () => Promise<Endpoints>
  /** Closes sockets, timers and filters. May be called again. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Makes a chain in this process. It has no port until `listen` is called.
 * @throws {DevchainError} `INVALID_PARAMS` naming an option that is unknown or makes no sense
 */
export async function createDevchain(
  options: DevchainOptions = {},
  hooks: Hooks = {},
): Promise<Devchain> {
  return await openDevchain(readDevchainOptions(options), hooks)
}

/**
 * Makes a chain from options that have been read.
 * @throws {DevchainError} `INVALID_PARAMS` for a genesis file or mnemonic that is none, `INVALID_BLOCK` for a block to
 *   import that breaks a rule
 */
export async function openDevchain(settings: DevchainSettings, hooks: Hooks): Promise<Devchain> {
  const front = await openFront(settings, hooks)
  const { node, peers, project } = front.first
  const now = hooks.environment?.now?.() ?? Date.now()
  const close = (): Promise<void> => front.close()
  return {
    request: ({ method, params }) => front.first.request(method, params),
    node,
    peers: linkedChains(peers),
    accounts: devAccounts(node.chain, now),
    artifactsRead: () => project.read(),
    artifactsReadAgain: () => project.refresh(),
    gasReport: async () => (await project.gasReport()).rows,
    gasSummary: () => project.gasReport(),
    coverage: () => project.coverage(),
    writeCoverage: () => project.writeCoverage(),
    listen: async () => {
      const { url, port } = await front.listen()
      return { url, wsUrl: url.replace('http', 'ws'), port }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function linkedChains(peers: Backend['peers']): LinkedChains {
  return {
    list: () => peers.now?.list() ?? [],
    add: async (given) => {
      const url = readPeerUrl(given)
      if (url === undefined) {
        const message = `expected ${OPTIONS.peer.type.expected}, got ${printValue(given)}`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      return (await peers.load()).add(url)
    },
    remove: async (peer) => peers.now?.remove(peer) ?? false,
    partition: async (isOn, peer) => (await peers.load()).partition(peer, isOn),
  }
}

/** The accounts that are unlocked at the start, with their keys. */
function devAccounts(chain: Chain, now: number): readonly DevAccount[] {
  const book = chain.state.accounts
  return addresses(book).flatMap((address) => {
    const key = keyOf(book, address, now)
    return key === undefined ? [] : [{ address, privateKey: hexFromBytes(key) }]
  })
}
