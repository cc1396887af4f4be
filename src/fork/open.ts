// The way in: a network and one of its blocks, as options name them, become what a chain begins with.
import { DevchainError } from '../core/errors.ts'
import { type Hash, quantityFromBigint } from '../core/hex.ts'
import { forkFolder } from '../loader/cachefolder.ts'
import type { ForkBase, Upstream } from '../node/ledger/upstream.ts'
import type { ForkChoice } from '../options/fork.ts'
import { hashHeader } from '../protocol/blocks/block.ts'
import type { Hardfork } from '../protocol/forks.ts'
import type { Json } from '../rpc/schema.ts'
import { Ancestors } from './ancestors.ts'
import { quantity } from './answers.ts'
import { Client } from './client/client.ts'
import { eip1193Provider } from './client/eip1193.ts'
import { type Header, httpProvider } from './client/http.ts'
import { isPrivateUrl } from './client/private.ts'
import type { Provider } from './client/provider.ts'
import { type RemoteBlock, readBlock, recordOf } from './header.ts'
import { Lineage } from './lineage.ts'
import { type Asker, type BlockPoint, Network } from './network.ts'
import { namedHardfork, requireEvm, rulesOf } from './rules.ts'
import { BlockState } from './state.ts'
import { type CassetteHead, readCassette, recordTo } from './store/cassette.ts'
import { diskStore } from './store/disk.ts'
import { memoryStore } from './store/memory.ts'
import { layered, type Store } from './store/store.ts'

/** What of the options says how a network is forked. */
export interface ForkSettings {
  readonly fork: ForkChoice | undefined
  readonly forkHeader: readonly string[]
  readonly forkTimeout: number
  readonly forkRetries: number
  readonly noForkCache: boolean
  readonly forkProofs: boolean
  readonly forkRecord: string | undefined
  readonly forkReplay: string | undefined
  readonly chainId?: bigint | 'remote' | undefined
  readonly baseFee?: bigint | 'remote' | undefined
}

/** Told of what a user should know: a sentence without secrets. */
export type OnNotice = (text: string) => void

/** A fork that is ready, and what ends it. */
export interface OpenFork {
  readonly base: ForkBase
  /** Writes what was fetched, and asks nothing more. */
  readonly close: () => void
}

/**
 * Finds the block, and makes of it what a chain begins with.
 * @throws {DevchainError} `INVALID_PARAMS` for what cannot be forked, `UPSTREAM_FAILED` when the network cannot be asked
 */
export async function openFork(settings: ForkSettings, onNotice: OnNotice): Promise<OpenFork> {
  return settings.forkReplay === undefined
    ? await openNetwork(settings, onNotice)
    : openCassette(settings, settings.forkReplay, onNotice)
}

/** A fork of what a file holds. Nobody is asked. */
function openCassette(settings: ForkSettings, file: string, onNotice: OnNotice): OpenFork {
  const { head, store } = readCassette(file)
  const block = readBlock(head.block)
  const asker: Asker = {
    name: file,
    request: async (method, params) => {
      const message = `${file}, which is replayed, has no answer to ${method} ${JSON.stringify(params)}: record it anew with --fork-record`
      throw new DevchainError('UPSTREAM_FAILED', message)
    },
  }
  const found = { head, block, newest: block.header.number, depth: 0n }
  const moveTo = async (): Promise<void> => {
    throw new DevchainError('INVALID_PARAMS', `${file} is replayed: no network is asked`)
  }
  return opened(settings, found, { asker, store: layered(memoryStore(), store), moveTo }, onNotice)
}

async function openNetwork(settings: ForkSettings, onNotice: OnNotice): Promise<OpenFork> {
  const { fork, forkTimeout: timeoutMs, forkRetries: retries } = settings
  if (fork === undefined || (fork.urls.length === 0 && fork.provider === undefined)) {
    throw new DevchainError('INVALID_PARAMS', 'there is no network to fork: name one with --fork')
  }
  const providers = providersOf(fork, settings.forkHeader)
  const client = new Client({ providers, timeoutMs, retries, onNotice })
  try {
    const found = await findBlock(client, fork)
    requireEvm(BigInt(found.head.chainId))
    const [first, ...others] = providers
    const asking = { timeoutMs, retries: 0, onNotice }
    await requireSameBlock(others, found.block, asking, first?.name)
    const folder = forkFolder()
    const isOnDisk = !settings.noForkCache && folder !== undefined && fork.provider === undefined
    const kept = [isOnDisk ? diskStore(folder) : memoryStore()]
    const recorded = settings.forkRecord
    if (recorded !== undefined) kept.unshift(recordTo(recorded, () => found.head))
    const store = kept.reduceRight((lower, upper) => layered(upper, lower))
    const moveTo = async (url: string): Promise<void> => {
      const other = providersOf({ urls: [url], block: undefined }, settings.forkHeader)
      await requireSameBlock(other, found.block, { timeoutMs, retries, onNotice }, client.name)
      client.use(other)
    }
    const { base, close } = opened(settings, found, { asker: client, store, moveTo }, onNotice)
    return {
      base,
      close: () => {
        client.close()
        close()
      },
    }
  } catch (error) {
    client.close()
    throw error
  }
}

function providersOf({ urls, provider }: ForkChoice, lines: readonly string[]): Provider[] {
  if (provider !== undefined) return [eip1193Provider(provider)]
  return urls.map((url) => httpProvider(url, lines.map(headerOf)))
}

function headerOf(line: string): Header {
  const at = line.indexOf(':')
  return { name: line.slice(0, at), value: line.slice(at + 1).trim() }
}

/** The block to go on from, and what else is asked at the start. */
interface Found {
  readonly head: CassetteHead
  readonly block: RemoteBlock
  /** Number of the network's newest block. */
  readonly newest: bigint
  /** Blocks that a reorganization may take. */
  readonly depth: bigint
}

/** Depths that reorganizations do not reach, by chain id: where a network has finality, less. */
const DEPTHS: ReadonlyMap<bigint, bigint> = new Map([
  [1n, 32n],
  [11_155_111n, 32n],
  [560_048n, 32n],
  [17_000n, 32n],
  [100n, 38n],
])

const USUAL_DEPTH = 128n

async function findBlock(client: Client, fork: ForkChoice): Promise<Found> {
  const named = fork.block ?? 'latest'
  const isHash = /^0x[0-9a-fA-F]{64}$/.test(named)
  const isRelative = named.startsWith('-') || fork.block === undefined
  const asked = isHash || isRelative ? 'latest' : tagOrNumber(named)
  const [id, first, newestJson, info] = await Promise.all([
    client.request('eth_chainId', []),
    isHash
      ? client.request('eth_getBlockByHash', [named, false])
      : client.request('eth_getBlockByNumber', [asked, false]),
    client.request('eth_blockNumber', []),
    // what only test nodes know: by which rules they go
    client.request('anvil_nodeInfo', []).catch(() => null),
  ])
  const chainId = quantity(id)
  const newest = quantity(newestJson)
  const isOwn = fork.provider !== undefined || fork.urls.every(isPrivateUrl)
  const depth = isOwn ? 0n : (DEPTHS.get(chainId) ?? USUAL_DEPTH)
  let json = first
  if (isRelative) {
    const back = fork.block === undefined ? depth : -BigInt(named)
    const number = newest > back ? newest - back : 0n
    if (back > 0n) {
      json = await client.request('eth_getBlockByNumber', [quantityFromBigint(number), false])
    }
  }
  if (json === null) {
    const message = `fork: ${client.name} has no block ${named}; its newest is ${newest}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  const block = readBlock(json)
  const name = (info as { hardFork?: unknown } | null)?.hardFork
  const hardfork = namedHardfork(name, block.header) ?? null
  return { head: { chainId: `${chainId}`, block: json, hardfork }, block, newest, depth }
}

function tagOrNumber(text: string): string {
  return /^(\d|0x)/.test(text) ? quantityFromBigint(BigInt(text)) : text
}

/** Each of several nodes must show the same block; one that cannot be reached may come back. */
async function requireSameBlock(
  providers: readonly Provider[],
  { header, hash }: RemoteBlock,
  options: { timeoutMs: number; retries: number; onNotice: OnNotice },
  first: string | undefined,
): Promise<void> {
  await Promise.all(
    providers.map(async (provider) => {
      const client = new Client({ ...options, providers: [provider] })
      let found: Json | undefined
      try {
        const params = [quantityFromBigint(header.number), false]
        found = await client.request('eth_getBlockByNumber', params)
      } catch (error) {
        options.onNotice(`not asked for now: ${(error as Error).message}`)
        return
      }
      const other = (found as { hash?: unknown } | null)?.hash
      if (other === hash) return
      const message = `fork: ${provider.name} has another block ${header.number} than ${first}: ${String(other ?? 'none')}, not ${hash}`
      throw new DevchainError('INVALID_PARAMS', message)
    }),
  )
}

/** Who answers, what is kept of it, and how to have somebody else answer. */
interface Carriers extends Pick<Upstream, 'moveTo'> {
  readonly asker: Asker
  readonly store: Store
}

function opened(
  { chainId, baseFee, forkProofs: isProven }: ForkSettings,
  { head, block, newest, depth }: Found,
  { asker, store, moveTo }: Carriers,
  onNotice: OnNotice,
): OpenFork {
  const id = BigInt(head.chainId)
  if (isProven && hashHeader(block.header) !== block.hash) {
    const message = `fork: the header of block ${block.header.number} has members that are not known here, so that nothing can be proven by it: leave --fork-proofs out`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  // chains of one's own are many under one id, and may be begun anew
  const isShallow = (number: bigint): boolean => depth === 0n || number + depth > newest
  const network = new Network({ chainId: id, asker, store, isProven, isShallow, now: Date.now })
  network.noteVerified(block.hash)
  const { number, stateRoot } = block.header
  const point: BlockPoint = { number, hash: block.hash, stateRoot }
  const lineage = new Lineage(network, block)
  let isRootKnown = isProven
  const onLost = (why: string): void => {
    isRootKnown = false
    onNotice(`state roots of blocks mined from now on are not the network's: ${why}`)
  }
  const base: ForkBase = {
    upstream: { ...upstreamOf(network, point, lineage, () => isRootKnown), moveTo },
    ancestors: new Ancestors(network, block, lineage),
    header: block.header,
    head: ({ balances: own, code }) =>
      recordOf(block, 0, () => new BlockState(network, point, { own, code }, onLost).world),
    hardforkAt: rulesOf(id, block, (head.hardfork ?? undefined) as Hardfork | undefined),
    takesChainId: chainId === 'remote',
    takesBaseFee: baseFee === 'remote',
  }
  return { base, close: () => void store.flush() }
}

/** Methods whose answers are headers, or have their members. */
const TELLING_HEADERS: ReadonlySet<string> = new Set([
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getHeaderByHash',
  'eth_getHeaderByNumber',
])

function upstreamOf(
  network: Network,
  point: BlockPoint,
  lineage: Lineage,
  isRootKnown: () => boolean,
): Omit<Upstream, 'moveTo'> {
  return {
    chainId: network.chainId,
    number: point.number,
    hash: point.hash as Hash,
    facts: () => {
      const { sent, asked, batch } = network.traffic
      const { isProven, name } = network
      return { isProven, name, requests: sent, asked, batch, isRootKnown: isRootKnown() }
    },
    ask: async (method, params, block) => {
      const answer = await network.askBelow(point, method, params as readonly Json[], block)
      if (network.isProven && TELLING_HEADERS.has(method)) await lineage.requireOwn(answer)
      return answer
    },
    peek: (method, params) => network.ask(method, params as readonly Json[]),
  }
}
