// createDevchain: the programmatic API, composed from app/.
import { Backend } from './app/backend.ts'
import type { Hooks } from './app/common.ts'
import { type Front, openFront } from './app/front.ts'
import { type DevchainOptions, readDevchainOptions } from './app/settings.ts'
import { DevchainError, invalidParams, printValue } from './core/errors.ts'
import { type Address, type Hex, hexFromBytes } from './core/hex.ts'
import type { ChainInfo } from './methods/common/chains.ts'
import { blockReference } from './methods/wire/decodeblock.ts'
import { addresses, keyOf } from './node/accounts/accounts.ts'
import type { Chain } from './node/chain/chain.ts'
import type { Node } from './node/node.ts'
import type { PeerInfo } from './node/peers.ts'
import type { DevchainSettings } from './options/derived.ts'
import { OPTIONS } from './options/table.ts'
import { readPeerUrl } from './options/values.ts'
import type { CoverageReport } from './project/coverage/coverage.ts'
import type { GasRow, GasSummary } from './project/gas/report.ts'
import { errorObjectOf, RpcError } from './rpc/errors.ts'

export type { Hooks } from './app/common.ts'
export type { CallFailure, ObservedCall, Observer, ThreadLog } from './app/observer.ts'
export type { DevchainOptions } from './app/settings.ts'
export type { ChainInfo } from './methods/common/chains.ts'
export type { RpcError } from './rpc/errors.ts'

/** An account that is unlocked at the start. */
export interface DevAccount {
  readonly address: Address
  readonly privateKey: Hex
}

export interface Endpoints {
  /** `http://127.0.0.1:8545` */
  readonly url: string
  /** `ws://127.0.0.1:8545` */
  readonly wsUrl: string
  readonly port: number
}

export interface LinkedChains {
  /** The linked peers that are not partitioned. */
  readonly list: () => readonly PeerInfo[]
  /** Links to a chain by a URL such as `ws://127.0.0.1:8546`; false if that link exists already. */
  readonly add: (url: string) => Promise<boolean>
  /** Removes a link, by URL, name or id. */
  readonly remove: (peer: string) => Promise<boolean>
  /** Partitions a peer or reconnects it; without a name, all peers including future ones. */
  readonly partition: (isOn: boolean, peer?: string) => Promise<readonly PeerInfo[]>
}

export interface Devchain {
  /**
   * EIP-1193: calls a method, with the same results as over HTTP.
   * @throws {RpcError} with the code, message and data of the HTTP error, and once devchain is closed
   * @see https://eips.ethereum.org/EIPS/eip-1193
   */
  readonly request: (request: {
    readonly method: string
    readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>
  }) => Promise<unknown>
  /** The chain below the RPC methods, with its filters and its work for miners. */
  readonly node: Node
  readonly accounts: readonly DevAccount[]
  /**
   * The options in effect; undefined where the hardfork, a genesis file or the network decides. Those of a chain that began
   * before are in its pack or folder.
   */
  readonly options: DevchainSettings
  /** Resolves when the artifacts present at the start have been read. Reading happens in the background anyway. */
  readonly artifactsRead: () => Promise<void>
  /** Reads the artifacts that are on disk now, and resolves when done. */
  readonly artifactsReadAgain: () => Promise<void>
  /** Gas use of the user's functions on all chains, since the artifacts were read. */
  readonly gasReport: () => Promise<readonly GasRow[]>
  /** The same, and why it is empty or incomplete. */
  readonly gasSummary: () => Promise<GasSummary>
  /**
   * The lines, functions and branches that calls and transactions reached.
   * @throws {DevchainError} `INVALID_REQUEST` unless the option `coverage` names a file
   */
  readonly coverage: () => Promise<CoverageReport>
  /** Writes the coverage file once; `close` also does. Rejects with node's error if the file cannot be written. */
  readonly writeCoverage: () => Promise<CoverageReport>
  /** Writes the file of `dumpState`, if the chain changed; `close` also does. Rejects if it cannot be written. */
  readonly writeDump: () => Promise<void>
  readonly peers: LinkedChains
  /**
   * Makes another chain in this process, also served at the path of its name. It begins with what this chain began with or
   * what the set-up left, unless `from` names a chain or a snapshot, or `options` give it a genesis of its own.
   * @param name undefined: the next free `chain-N`
   * @throws {DevchainError} `INVALID_PARAMS` for an invalid or used name, an unknown `from` or invalid options,
   * `LIMIT_EXCEEDED` for too many chains
   */
  readonly branch: (name?: string, start?: BranchStart) => Promise<BranchedChain>
  /**
   * Runs work on this chain, such as deploying contracts. Chains at paths wait for it and begin with what it left.
   * Rejects as the work does.
   */
  readonly setUp: (work: () => Promise<unknown>) => Promise<void>
  /** A pack: this chain with its snapshots and keys, as one file for the option `from`. The same bytes for the same chain. */
  readonly save: () => Promise<Uint8Array>
  /** The chains of this process, the default one first. */
  readonly chains: () => Promise<readonly ChainInfo[]>
  /**
   * Starts the server, or returns where it already listens. Rejects with node's `EADDRINUSE` when the port is taken, and after
   * `close`.
   */
  readonly listen: () => Promise<Endpoints>
  /** Closes sockets, timers and filters; may be called again. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export interface BranchStart {
  /** A chain, or a named snapshot of the default chain. */
  readonly from?: string | undefined
  /** The block of `from` after which it begins, also one that a revert or a reorg took off it: a number, hash or tag. */
  readonly block?: string | number | undefined
  /** Options of its own; a genesis is given as an object, not as a path. */
  readonly options?: DevchainOptions | undefined
}

/** A chain at a path. */
export interface BranchedChain extends Pick<Devchain, 'request' | 'node' | 'accounts' | 'save'> {
  readonly name: string
  /** `/alice`: behind the URL that `listen` returns. */
  readonly path: string
  /** Drops the chain. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Makes a chain in this process. It opens no port until `listen` is called.
 * @throws {DevchainError} `INVALID_PARAMS` for an unknown option or an invalid value
 */
export async function createDevchain(
  options: DevchainOptions = {},
  hooks: Hooks = {},
): Promise<Devchain> {
  return await openDevchain(readDevchainOptions(options), hooks)
}

/**
 * Makes a chain from options that have been read.
 * @throws {DevchainError} `INVALID_PARAMS` for an invalid genesis file or mnemonic, `INVALID_BLOCK` for an imported block
 * that breaks a rule
 */
export async function openDevchain(settings: DevchainSettings, hooks: Hooks): Promise<Devchain> {
  const front = await openFront(settings, hooks)
  const { node, peers, project } = front.first
  const { artifacts } = front
  const now = hooks.environment?.now?.() ?? Date.now()
  const close = (): Promise<void> => front.close()
  return {
    request: async ({ method, params }) => {
      try {
        front.chains.requireOpen()
      } catch (error) {
        throw rpcErrorOf(error)
      }
      return front.first.request(method, params)
    },
    node,
    peers: linkedChains(peers),
    accounts: devAccounts(node.chain, now),
    options: front.first.settings,
    artifactsRead: () => artifacts.read(),
    artifactsReadAgain: () => artifacts.refresh(),
    gasReport: async () => (await front.gasSummary()).rows,
    gasSummary: () => front.gasSummary(),
    coverage: () => project.coverage(),
    writeCoverage: () => project.writeCoverage(),
    writeDump: () => front.first.writeDump(),
    branch: (name, start) => branchOf(front, name, start, now),
    setUp: (work) => front.setUp(work),
    save: () => front.first.save(),
    chains: () => front.chains.list(),
    listen: async () => {
      const { url, port } = await front.listen()
      return { url, wsUrl: url.replace('http', 'ws'), port }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function branchOf(
  { chains }: Front,
  name: string | undefined,
  start: BranchStart | undefined,
  now: number,
): Promise<BranchedChain> {
  // `??`: programs without types give null, too
  const block = start?.block ?? undefined
  const order = {
    name: name ?? undefined,
    from: start?.from ?? undefined,
    block: block === undefined ? undefined : blockReference.decode(block, 'block'),
    options: start?.options ?? undefined,
  }
  const { path } = await chains.create(order, 'here')
  const slot = chains.slotFor(path)
  const backend = async (): Promise<Backend> => {
    const chain = await slot.open().catch((error: unknown) => {
      throw rpcErrorOf(error)
    })
    if (chain instanceof Backend) return chain
    throw new Error('the chain of a program is in another thread')
  }
  const { node } = await backend()
  const close = async (): Promise<void> => {
    if (chains.at(path) === slot) await chains.drop(slot.name)
  }
  return {
    name: slot.name,
    path,
    request: ({ method, params }) =>
      slot.whileUsed(backend().then((opened) => opened.request(method, params))),
    node,
    accounts: devAccounts(node.chain, now),
    save: () => slot.whileUsed(backend().then((opened) => opened.save())),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function rpcErrorOf(error: unknown): unknown {
  return error instanceof DevchainError
    ? new RpcError(errorObjectOf(error, () => undefined))
    : error
}

function linkedChains(peers: Backend['peers']): LinkedChains {
  return {
    list: () => peers.now?.list() ?? [],
    add: async (given) => {
      const url = readPeerUrl(given)
      if (url === undefined) {
        throw invalidParams(`expected ${OPTIONS.peer.type.expected}, got ${printValue(given)}`)
      }
      return (await peers.load()).links.add(url)
    },
    remove: async (peer) => peers.now?.links.remove(peer) ?? false,
    partition: async (isOn, peer) => (await peers.load()).partition(peer, isOn),
  }
}

function devAccounts(chain: Chain, now: number): readonly DevAccount[] {
  const book = chain.state.accounts
  return addresses(book).flatMap((address) => {
    const key = keyOf(book, address, now)
    return key === undefined ? [] : [{ address, privateKey: hexFromBytes(key) }]
  })
}
