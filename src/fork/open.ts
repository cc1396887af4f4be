// Opens a fork: resolves the network and block that the options name into what a chain starts with.
import { invalidParams } from '../core/errors.ts'
import { forkFolder } from '../loader/cachefolder.ts'
import type { OpenFork } from '../node/chainoptions.ts'
import type { ForkBase, ForkSource, SeenNumber, Upstream } from '../node/ledger/upstream.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { ForkChoice } from '../options/fork.ts'
import { hashHeader } from '../protocol/blocks/header.ts'
import type { Hardfork } from '../protocol/forks.ts'
import type { Json } from '../rpc/schema.ts'
import { Ancestors } from './ancestors.ts'
import { adapting, l1Hashes } from './arbitrum/adapt.ts'
import { Client, NotRecorded } from './client/client.ts'
import { eip1193Provider } from './client/eip1193.ts'
import { httpProvider } from './client/http.ts'
import type { Provider } from './client/provider.ts'
import { withWaitBudget } from './client/waitbudget.ts'
import { webSocketProvider } from './client/websocket.ts'
import { Lineage } from './lineage.ts'
import { type RemoteBlock, readBlock, recordOf } from './network/header.ts'
import { type Asker, type BlockPoint, ForkedNetwork, pointOf } from './network/network.ts'
import type { TracedAccounts } from './network/prestate.ts'
import { type BlockAge, PrunedState } from './network/pruned.ts'
import { requireEvm, rulesOf } from './network/rules.ts'
import { asDeposit } from './replay/deposits.ts'
import { sendLater, worldAfter } from './replay/prefix.ts'
import { findBlock, foundAgain, requireSameBlock } from './start/find.ts'
import type { FoundBlock } from './start/heads.ts'
import { requireAsked } from './start/replayed.ts'
import { BlockState, type StateSource } from './state.ts'
import { diskStore } from './store/disk.ts'
import { trimLater } from './store/folder.ts'
import { recordTo } from './store/recording.ts'
import { type RecordingHead, readRecording, storeOf } from './store/recordingfile.ts'
import { layered, memoryStore, type Store } from './store/store.ts'

export interface ForkSettings extends DevchainSettings {
  /** Headers go only to these hosts, as they may hold keys; undefined: to all. */
  readonly headerUrls?: readonly string[] | undefined
  /** What was fetched stays there, besides the user's cache. */
  readonly folder?: string | undefined
  /** A fork that began earlier: `mustMeet` if other URLs are given now, which must have its block. */
  readonly begun?: { readonly head: unknown; readonly mustMeet: boolean } | undefined
}

/** Receives warnings without secrets. */
type OnNotice = (text: string) => void

/** @throws {DevchainError} `INVALID_PARAMS` for what cannot be forked, `UPSTREAM_FAILED` if the network does not answer */
export async function openFork(settings: ForkSettings, onNotice: OnNotice): Promise<OpenFork> {
  return settings.forkReplay === undefined
    ? await withWaitBudget(() => openNetwork(settings, onNotice))
    : openRecording(settings, settings.forkReplay, onNotice)
}

/** A fork from a recording: it makes no requests. */
function openRecording(settings: ForkSettings, file: string, onNotice: OnNotice): OpenFork {
  const recording = readRecording(file)
  const { head } = recording
  const block = readBlock(head.block)
  requireAsked(file, head, block, settings)
  const asker: Asker = {
    name: file,
    isFixed: true,
    request: async (method, params) => {
      throw new NotRecorded({ method, params }, file)
    },
  }
  const found = { head, block, newest: block.header.number, depth: 0n, isSeen: true }
  const moveTo = async (): Promise<void> => {
    throw invalidParams(`a replay has no RPC URL to change: ${file} is replayed`)
  }
  const kept = layered(memoryStore(), storeOf(recording))
  const { forkRecord: into } = settings
  // record only what the replay reads
  const store = into === undefined ? kept : layered(recordTo(into, head, onNotice), kept)
  const how = { ...settings, forkProofs: head.proofs ?? false }
  return opened(how, found, { asker, store, moveTo, urls: [] }, onNotice)
}

async function openNetwork(settings: ForkSettings, onNotice: OnNotice): Promise<OpenFork> {
  const { fork: choice, forkTimeout: timeoutMs, forkRetries: retries, forkMaxWait } = settings
  if (choice === undefined || (choice.urls.length === 0 && choice.provider === undefined)) {
    throw invalidParams('no network to fork: pass its URL with --fork')
  }
  const providers = providersOf(choice, settings)
  const limits = { timeoutMs, retries, maxWaitMs: forkMaxWait, onNotice }
  const client = new Client({ ...limits, providers })
  try {
    const folder = forkFolder()
    const isOnDisk = !settings.noForkCache && folder !== undefined && choice.provider === undefined
    const cache = isOnDisk ? diskStore(folder, { onNotice }) : memoryStore()
    const own = settings.folder && diskStore(settings.folder, { onNotice, mostBytes: Infinity })
    const kept = own ? layered(own, cache) : cache
    const found =
      settings.begun === undefined
        ? await findBlock(client, choice, settings, isOnDisk ? cache : undefined)
        : foundAgain(settings.begun.head as RecordingHead, choice)
    requireEvm(BigInt(found.head.chainId), found.block)
    const asking = { ...limits, retries: 0 }
    const meet = (): Promise<void> => {
      const strangers = found.isSeen ? providers.slice(1) : providers
      return requireSameBlock(strangers, found.block, asking, providers[0]?.name)
    }
    if (found.isSeen) await meet()
    if (settings.begun?.mustMeet === true) {
      const known = `the fork on disk`
      await requireSameBlock(providers, found.block, { ...asking, mustAnswer: true }, known)
    }
    const { forkRecord: recorded, forkProofs } = settings
    const head = { ...found.head, ...(forkProofs && { proofs: true as const }) }
    const recording = recorded === undefined ? undefined : recordTo(recorded, head, onNotice)
    const store = recording === undefined ? kept : layered(recording, kept)
    const moveTo = async (url: string): Promise<void> => {
      const other = providersOf({ urls: [url], block: undefined }, settings)
      try {
        await requireSameBlock(other, found.block, { ...limits, mustAnswer: true }, client.name)
      } catch (error) {
        for (const { close } of other) close?.()
        throw error
      }
      client.use(other)
    }
    void found.pruned?.then((refused) => {
      if (refused === undefined) return
      onNotice(new PrunedState(refused, ageIn(found), Date.now()).message)
    })
    const asker = found.isSeen ? client : greeting(client, meet)
    const carriers = { asker, store, recording, moveTo, urls: choice.urls }
    const { close, ...fork } = opened(settings, { ...found, head }, carriers, onNotice)
    const callOff = isOnDisk ? trimLater(folder, onNotice) : undefined
    return {
      ...fork,
      close: () => {
        callOff?.()
        client.close()
        close()
      },
    }
  } catch (error) {
    client.close()
    throw error
  }
}

/** Checks the block together with the first request to a network that was not asked yet. */
function greeting(client: Client, meet: () => Promise<void>): Asker {
  let met: Promise<void> | undefined
  return {
    get name() {
      return client.name
    },
    get traffic() {
      return client.traffic
    },
    request: async (method, params, check) => {
      met ??= meet()
      const [answer] = await Promise.all([client.request(method, params, check), met])
      return answer
    },
  }
}

function providersOf({ urls, provider }: ForkChoice, settings: ForkSettings): Provider[] {
  if (provider !== undefined) return [eip1193Provider(provider)]
  const { forkHeader, headerUrls } = settings
  const isTrusted = (url: string): boolean =>
    headerUrls === undefined || headerUrls.some((each) => hostOf(each) === hostOf(url))
  const headers = Object.fromEntries(forkHeader.map(headerOf))
  return urls.map((url) => {
    const open = /^ws/i.test(url) ? webSocketProvider : httpProvider
    return open(url, isTrusted(url) ? headers : {})
  })
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined
}

function headerOf(line: string): readonly [name: string, value: string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}

interface Carriers extends Pick<Upstream, 'moveTo'> {
  readonly asker: Asker
  readonly store: Store
  readonly recording?: Store | undefined
  readonly urls: readonly string[]
}

function ageIn(
  { block: { header }, newest, isSeen }: FoundBlock,
  number: bigint = header.number,
): BlockAge {
  const timestamp = number === header.number ? header.timestamp : undefined
  return { number, timestamp, newest: isSeen ? newest : undefined }
}

function opened(
  { chainId, baseFee, forkLater, forkProofs: isProven }: ForkSettings,
  found: FoundBlock,
  { asker, store, recording, moveTo, urls }: Carriers,
  onNotice: OnNotice,
): OpenFork {
  const { head, block, newest, depth } = found
  const id = BigInt(head.chainId)
  if (isProven && hashHeader(block.header) !== block.hash) {
    const message = `fork: the header of block ${block.header.number} does not hash to ${block.hash}: the network is wrong, or its headers have unknown fields, so nothing can be proven (--fork-proofs)`
    throw invalidParams(message)
  }
  // local chains share ids and restart, so no block of theirs is final
  const isShallow = (number: bigint): boolean => depth === 0n || number + depth > newest
  const ageOf = (number: bigint): BlockAge => ageIn(found, number)
  const isArbitrum = block.parentNumber !== undefined
  const fork = nameOf(head)
  const parts = { chainId: id, fork, asker, store, isProven, recording, isShallow, ageOf }
  const network = new ForkedNetwork({ ...parts, isArbitrum, onNotice })
  const point = pointOf(block)
  const takes = { takesChainId: chainId === 'remote', takesBaseFee: baseFee === 'remote' }
  let source: ForkSource = { name: fork, urls, head, ...takes }
  const lineage = new Lineage(network, block)
  let isRootKnown = isProven
  const onLost = (why: string): void => {
    isRootKnown = false
    onNotice(`state roots of later blocks will differ from the network's: ${why}`)
  }
  const ancestors = new Ancestors(network, block, lineage)
  // the first block mined here continues the block of the forked transaction
  const since = head.prefix === undefined ? block : readBlock(head.prefix.block)
  const seenNumber = isArbitrum ? seenAfter(block, since, ancestors) : undefined
  const hashes = l1Hashes(network, block, (at) => lineage.blockAt(at))
  const named = (head.hardfork ?? undefined) as Hardfork | undefined
  const base: ForkBase = {
    upstream: {
      get source() {
        return source
      },
      ...upstreamOf(network, point, lineage, () => isRootKnown),
      seenNumber,
      adapt: seenNumber === undefined ? asDeposit : adapting(seenNumber, hashes),
      recall: (number) => ancestors.prepareReplay(number),
      moveTo: async (url) => {
        await moveTo(url)
        source = { ...source, urls: [url] }
      },
    },
    ancestors,
    header: block.header,
    head: ({ balances: own, code }) =>
      recordOf(block, () => new BlockState(network, point, { own, code }, onLost).world),
    hardforkAt: rulesOf(id, block, named, (at) => ancestors.headerOf(at)),
    stateOf: (kept) => {
      const { point: at, patches } = kept as StateSource
      return new BlockState(network, at, patches, onLost)
    },
  }
  const { prefix } = head
  return {
    base,
    runFirst:
      prefix &&
      ((state, executor) => worldAfter({ network, point }, prefix, state, executor, onNotice)),
    fill: async (chain) => {
      if (forkLater && prefix !== undefined) await sendLater(chain, prefix, onNotice)
    },
    close: () => store.flush(),
  }
}

function nameOf({ chainId, block, prefix, proofs }: RecordingHead): string {
  const place = prefix === undefined ? [] : [readBlock(prefix.block).hash, prefix.index]
  return [chainId, readBlock(block).hash, ...place, ...(proofs ? ['proofs'] : [])].join('/')
}

/** Seconds of an L1 slot: Arbitrum's contracts see L1 numbers. */
const SLOT_SECONDS = 12n

/** In local blocks, the L1 number grows with the time. */
function seenAfter(fork: RemoteBlock, since: RemoteBlock, ancestors: Ancestors): SeenNumber {
  return ({ number, timestamp }) => {
    if (number < fork.header.number) return ancestors.seenNumberOf(number)
    if (number === fork.header.number) return fork.parentNumber
    const seconds = timestamp - since.header.timestamp
    return (since.parentNumber ?? 0n) + (seconds > 0n ? seconds / SLOT_SECONDS : 0n)
  }
}

/**
 * Requests for a block of the network's chain or its header, whose hash can be proven. They are matched by name, as the
 * fork makes such requests for other methods too, and uncles have headers that are on no chain.
 */
const OF_BLOCK = /^eth_get(Block|Header)By(Hash|Number)$/

function upstreamOf(
  network: ForkedNetwork,
  point: BlockPoint,
  lineage: Lineage,
  isRootKnown: () => boolean,
): Omit<Upstream, 'moveTo' | 'recall' | 'source'> {
  return {
    chainId: network.chainId,
    number: point.number,
    hash: point.hash,
    facts: () => {
      const { name, traffic = { requests: 0, asked: 0, batch: 0 } } = network.asker
      return { ...traffic, name, isProven: network.isProven, isRootKnown: isRootKnown() }
    },
    ask: async (method, params, block, read, make) => {
      const checked = (json: Json): Json => {
        read(json)
        return json
      }
      const made = make as (() => Promise<Json>) | undefined
      const answer = await network.askHistory(point, method, params as Json[], block, checked, made)
      if (network.isProven && OF_BLOCK.test(method)) await lineage.requireOwn(answer)
      return read(answer)
    },
    take: (accounts) => network.take(accounts as TracedAccounts, point),
    peek: (method, params, read) => network.peek(method, params as Json[], point, read),
  }
}
