// A backend: one chain and everything it does not share with other chains (see common.ts).
import { bytesFromHex, type Hash, parseAddress } from '../core/hex.ts'
import { isObject } from '../core/objects.ts'
import { type Progress, Progresses } from '../core/progress.ts'
import { type MaybePromise, whenThere } from '../core/promises.ts'
import { yielder } from '../core/yield.ts'
import { LinkEntrance } from '../link/door.ts'
import type { MethodContext, RequestWatch } from '../methods/common/context.ts'
import { programVersion } from '../methods/common/version.ts'
import { type CallWords, callNews } from '../methods/wire/encodecall.ts'
import { bytesOfLog } from '../methods/wire/logtext/logtext.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { ChainOptions } from '../node/chainoptions.ts'
import { readyBranch } from '../node/commands/branches.ts'
import { forgotLeft, LEFT_BOUND } from '../node/commands/snapshots.ts'
import { branchOf, type ChainParts, chainWith, stateFrom } from '../node/create.ts'
import type { DumpFile } from '../node/dump/dumpfile.ts'
import { executedAt, transactionPlace } from '../node/ledger/blocktree.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { BlockReference } from '../node/ledger/references.ts'
import type { ForkBase } from '../node/ledger/upstream.ts'
import { type Node, nodeOf } from '../node/node.ts'
import { chainParameters, type DevchainSettings } from '../options/derived.ts'
import { PROGRAM } from '../program.ts'
import { isAskedOfProject, ProjectDoor } from '../project/door.ts'
import type { KeptLabels } from '../project/naming/labels.ts'
import type { Reply } from '../rpc/dispatch.ts'
import type { CallReport } from '../rpc/report.ts'
import type { Json } from '../rpc/schema.ts'
import { Caller, MessageCaller } from '../rpc/session.ts'
import type { Site } from '../rpc/site.ts'
import type { EndSession, Target } from '../server/answer.ts'
import { type ChainFacts, factsOf } from './chainfacts.ts'
import type { Common } from './common.ts'
import { openWire, type Wire } from './dispatcher.ts'
import { Forking } from './forking.ts'
import type { OpenedPack } from './keeping/beginning.ts'
import type { ChainPlace } from './keeping/keeping.ts'
import { isPageRead, type Observer, observerOf, observing } from './observer.ts'
import { ownSettings } from './settings.ts'
import {
  checkIdentity,
  createNodeFrom,
  readBlocks,
  readGenesis,
  readPredeploys,
} from './startfiles.ts'

export interface BackendOptions extends Wire {
  /** The chain's URL path without the `/`, also shown in the log; undefined for the default chain. */
  readonly name: string | undefined
  readonly settings: DevchainSettings
  /** Where the chain is kept on disk. */
  readonly kept?: ChainPlace | undefined
  /** What a new chain begins with, in place of a genesis. */
  readonly pack?: OpenedPack | undefined
  /** What the chain branches off; undefined: it has a genesis or a fork of its own, as its settings say. */
  readonly from?: Origin | undefined
}

/** A state, and the forks that it may read from. */
export interface Origin {
  readonly state: ChainState
  readonly forking: Forking
}

/** The same, whose forks stay open until `forking.leaveAll`. */
export function held({ state, forking }: Origin): Origin {
  return { state, forking: forking.held() }
}

/** How a chain at a path begins: as another chain is, or with options and so a genesis of its own. */
export type Begun = { readonly from: Origin } | { readonly options: object }

/**
 * Opens a chain at a path.
 * @param wire of chains without options of their own
 * @throws {DevchainError} as `openBackend`; `INVALID_PARAMS` for invalid options
 */
export async function openAtPath(
  common: Common,
  wire: Wire,
  name: string,
  begun: Begun,
  kept: ChainPlace | undefined,
): Promise<Backend> {
  if ('options' in begun) {
    const settings = ownSettings(common.settings, begun.options)
    const ownWire = await openWire(common, settings)
    return await openBackend(common, { name, settings, ...ownWire, kept })
  }
  const settings = { ...common.settings, peer: [], import: undefined }
  return await openBackend(common, { name, settings, ...wire, from: begun.from, kept })
}

interface Parts extends BackendOptions {
  readonly common: Common
  readonly logging: MethodContext['logging']
  readonly observer: Observer
  readonly progresses: Progresses
  readonly node: Node
  readonly forking: Forking
  readonly project: ProjectDoor
  readonly peers: LinkEntrance
  readonly dumpFile: DumpFile | undefined
}

/**
 * @throws {DevchainError} `INVALID_PARAMS` for an invalid genesis file or mnemonic, `INVALID_BLOCK` for an imported block
 * that breaks a rule
 */
export async function openBackend(common: Common, options: BackendOptions): Promise<Backend> {
  const { name, settings, from } = options
  const logging = { isEnabled: true }
  const observer = observerOf(common.hooks.observer ?? {}, name, logging)
  const progresses = new Progresses((running) => observer.onRunning?.(running))
  const forking = new Forking({
    settings,
    executor: common.engines.executorFor(settings),
    onNotice: (text) => observer.onNotice?.(text),
    from: from?.forking,
    kept: common.keeping?.forks,
    packed: options.pack?.fork,
  })
  const making = { ...options, common, progresses, forking, observer }
  const node = from === undefined ? await newNode(making) : await branchNode(making, from)
  const { chain } = node
  options.kept?.attach(chain)
  chain.onClose(() => progresses.close())
  observer.onChain?.(chain)
  if (observer.onChange !== undefined) chain.onChange(observer.onChange)
  noteForgotten(chain, observer)
  const project = openProject(common, settings, observer, chain, options.kept?.labels)
  await project.begin()
  const peers = openLinks(common, settings, observer, chain)
  await peers.start()
  const watch = { logging, observer, progresses }
  const dumpFile = name === undefined ? await openDumpFile(settings, observer, chain) : undefined
  return new Backend({ ...options, ...watch, common, node, forking, project, peers, dumpFile })
}

/** Once for each chain: tests revert often. */
function noteForgotten(chain: Chain, { onNotice }: Observer): void {
  if (onNotice === undefined) return
  const end = chain.onChange(({ before, after }) => {
    if (!forgotLeft(before, after)) return
    end()
    onNotice(LEFT_BOUND)
  })
}

async function openDumpFile(
  { dumpState, stateInterval, preserveHistoricalStates }: DevchainSettings,
  observer: Observer,
  chain: Chain,
): Promise<DumpFile | undefined> {
  if (dumpState === undefined) return undefined
  const { DumpFile } = await import('../node/dump/dumpfile.ts')
  return new DumpFile(chain, {
    file: dumpState,
    historical: preserveHistoricalStates,
    intervalMs: stateInterval,
    onNotice: (text) => observer.onNotice?.(text),
  })
}

type Making = BackendOptions & Pick<Parts, 'common' | 'progresses' | 'forking' | 'observer'>

async function newNode(making: Making): Promise<Node> {
  const { settings, forking, common, kept } = making
  const { state = making.pack?.state, commit } = kept ?? {}
  // what a chain on disk or in a pack began with is part of its state
  const beginning = { ...settings, genesis: undefined, import: undefined, predeploy: [] }
  const chosen = state === undefined ? making : { ...making, settings: beginning }
  const options = { ...(await chainOptionsOf(chosen)), kept: state, commit }
  const atStart = state === undefined ? await forking.atStart() : await forking.resume(state)
  const node = await createNodeFrom(settings, { ...options, ...atStart })
  const { loadState } = settings
  if (state === undefined && loadState !== undefined) {
    const { loadDumpFile } = await import('../node/dump/dumpfile.ts')
    const notice = await loadDumpFile(node.chain, loadState)
    if (notice !== undefined) making.observer.onNotice?.(`${loadState}: ${notice}`)
  }
  if (kept?.state === undefined) await kept?.begin(node.chain.state)
  const now = common.environment.now()
  const stateOf = (fork: ForkBase | undefined): Promise<ChainState> =>
    stateFrom({ ...options, ...atStart, fork }, now)
  if (state === undefined) await forking.serve(node.chain, stateOf)
  else forking.serveBranch(node.chain, stateOf)
  return node
}

async function branchNode(making: Making, { state }: Origin): Promise<Node> {
  const { forking, common, kept } = making
  const { isPlain } = common.hooks
  const begun = kept?.state ?? branchOf(state)
  // the default chain may have left the fork that chains begin with
  if (kept !== undefined) await forking.resume(begun)
  const { lazyState } = forking
  const parts = { ...chainParts(making), isPlain, commit: kept?.commit, lazyState }
  const node = nodeOf(chainWith(begun, parts))
  if (kept?.state === undefined) await kept?.begin(begun)
  const now = common.environment.now()
  forking.serveBranch(node.chain, async (fork) =>
    stateFrom({ ...(await chainOptionsOf(making)), fork }, now),
  )
  return node
}

/** What every chain is made with. */
function chainParts({
  common,
  settings,
  progresses,
}: Making): Pick<ChainParts, 'environment' | 'executor'> {
  const { environment, onBug, engines } = common
  const begin = (name: string, progress: Progress): (() => void) => progresses.begin(name, progress)
  return { environment: { ...environment, onBug, begin }, executor: engines.executorFor(settings) }
}

async function chainOptionsOf(making: Making): Promise<ChainOptions> {
  const { settings, observer, profile, common } = making
  const genesis = await readGenesis(settings, (text) => observer.onNotice?.(text))
  checkIdentity(settings, genesis)
  return {
    ...chainParameters(settings),
    ...chainParts(making),
    genesis,
    predeploys: await readPredeploys(settings, genesis),
    blocks: await readBlocks(settings),
    behaviour: profile.chain,
    unsaid: profile.defaults,
    isPlain: common.hooks.isPlain,
  }
}

function openProject(
  { artifacts }: Common,
  settings: DevchainSettings,
  { onArtifacts: report = () => undefined, onProject = () => undefined }: Observer,
  chain: Chain,
  labels: KeptLabels | undefined,
): ProjectDoor {
  const door = new ProjectDoor({ chain, artifacts, settings, report, onProject, labels })
  chain.onClose(() => door.close())
  return door
}

function openLinks(
  { subscriptions, onBug }: Common,
  settings: DevchainSettings,
  observer: Observer,
  chain: Chain,
): LinkEntrance {
  return new LinkEntrance({
    chain,
    settings,
    client: programVersion(PROGRAM),
    log: (event) => observer.onPeer?.(event),
    onSyncing: (status) => subscriptions.notifySyncing(chain, status),
    onBug,
  })
}

export class Backend implements Target {
  readonly node: Node
  readonly project: ProjectDoor
  readonly peers: LinkEntrance
  readonly observer: Observer
  readonly sessions: Set<EndSession> = new Set()
  readonly #parts: Parts
  readonly #watch: RequestWatch
  /** For in-process requests, which have no connection. */
  readonly #ownProcess = new Caller()
  readonly #yieldIfDue = yielder()
  /** Over HTTP and WebSocket, a batch counted once. */
  requests = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.node = parts.node
    this.project = parts.project
    this.peers = parts.peers
    this.observer = parts.observer
    this.#watch = {
      begin: (method, caller) => parts.progresses.begin(method, caller),
      observe: this.#observing(parts.observer.onCall),
    }
  }

  /** For the log, and for subscribers of `calls`. */
  #observing(onCall: Observer['onCall']): RequestWatch['observe'] {
    const log = onCall && observing(onCall)
    const { subscriptions } = this.#parts.common
    return (call, context, details) => {
      // the log takes the lines out
      const printed = subscriptions.watchesCalls ? [...context.printed] : NO_LINES
      log?.(call, context, details)
      if (log === undefined) context.printed.length = 0
      if (!subscriptions.watchesCalls || context.isOwn || isPageRead(context, details)) return
      subscriptions.notifyCall(context.chain, context.caller.session, () =>
        callNews(call, details, this.#wordsOf(call), [...printed, ...printedBy(context, call)]),
      )
    }
  }

  /** A transaction or call, and why it failed, by the names of the project; undefined where no name is known. */
  #wordsOf({ params, error }: CallReport): CallWords {
    const names = this.project.project?.names
    const [order] = Array.isArray(params) ? params : []
    if (names === undefined || !isObject(order)) return {}
    const { to, data, input = data } = order
    if (!isText(to, /^0x[0-9a-f]{40}$/i) || !isText(input, BYTES)) return {}
    const { world } = names
    try {
      const target = parseAddress(to)
      const failure = error?.data
      return {
        call: names.call(world, { to: target, input: bytesFromHex(input) })?.text,
        error: isText(failure, BYTES)
          ? names.error(world, target, bytesFromHex(failure))?.text
          : undefined,
      }
    } catch {
      // a fork has not fetched the account
      return {}
    }
  }

  answer(caller: Caller, message: Uint8Array): MaybePromise<Reply> {
    this.requests += 1
    return this.#parts.dispatcher.dispatch(this.#contextOf(caller, false), message)
  }

  /**
   * Of the own program, which may poll without a pause: the timers of mining get their turn.
   * @throws {RpcError} the error that a client over the wire would get
   */
  request(method: string, params?: unknown): Promise<Json> {
    const context = this.#contextOf(this.#ownProcess, false)
    return this.#parts.dispatcher.request(context, method, params).finally(this.#yieldIfDue)
  }

  /** The project's own HTTP pages; their chain requests are not logged. */
  get projectSite(): Site {
    const { dispatcher, project } = this.#parts
    const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
      dispatcher.request(this.#contextOf(this.#ownProcess, true), method, params)
    return {
      owns: ({ target }) => isAskedOfProject(target),
      answer: (request) => project.answer(request, ask),
    }
  }

  /** What a chain that begins here branches off; its forks stay open until `forking.leaveAll`. */
  heldOrigin(block?: BlockReference): MaybePromise<Origin> {
    return whenThere(this.stateAfter(block), (state) => held({ ...this.origin(), state }))
  }

  /** The state after a block of any branch; undefined: as it is. @throws {DevchainError} as `branchAt` */
  stateAfter(block: BlockReference | undefined): MaybePromise<ChainState> {
    return readyBranch(this.node.chain.state, block)
  }

  /** As it is, while the chain is open. */
  origin(): Origin {
    return { state: this.node.chain.state, forking: this.#parts.forking }
  }

  get settings(): DevchainSettings {
    return this.#parts.settings
  }

  /** The chain with its snapshots, as one file. The same bytes for the same chain. */
  async save(): Promise<Uint8Array> {
    const { writePack } = await import('../store/packfile.ts')
    return writePack({ state: this.node.chain.state, compat: this.#parts.settings.compat })
  }

  /** Writes the dump of `--dump-state`, if the chain changed. Rejects with a DevchainError if it cannot be written. */
  async writeDump(): Promise<void> {
    await this.#parts.dumpFile?.write()
  }

  facts(): ChainFacts {
    return factsOf(this.node.chain.state)
  }

  /** The newest lines of its log. */
  messages(): readonly string[] {
    return this.observer.messages?.() ?? []
  }

  /**
   * Closes the chain. The default chain first writes the coverage of all chains and its dump, if they are requested.
   * @returns the error if one could not be written
   */
  async close(): Promise<unknown> {
    const { name, settings, common, project, node, dumpFile } = this.#parts
    const isReported = name === undefined && settings.coverage !== undefined
    const unreported = isReported ? await failureOf(project.writeCoverage()) : undefined
    const failure = unreported ?? (dumpFile && (await failureOf(dumpFile.close())))
    if (name === undefined) common.artifacts.close()
    node.chain.close()
    this.observer.onEnd?.()
    this.#ownProcess.hangUp()
    return failure
  }

  #contextOf(caller: Caller, isOwn: boolean): MethodContext {
    const { common, dispatcher, profile, settings, logging, node, forking, project, peers } =
      this.#parts
    const { chain, filters, getWork } = node
    return {
      chain,
      filters,
      getWork,
      project,
      forking,
      caller: new MessageCaller(caller),
      info: PROGRAM,
      profile,
      logging,
      watch: this.#watch,
      listening: common.isListening(),
      printed: [],
      runs: [],
      notes: [],
      isOwn,
      registry: dispatcher.registry,
      options: settings,
      subscriptions: common.subscriptions,
      peers,
      chains: common.chains(),
      // an accelerator
      bytesOfLog: common.hooks.isPlain ? undefined : bytesOfLog,
    }
  }
}

/** The error a promise rejects with; undefined if it resolves. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** At least one byte. */
const BYTES = /^0x([0-9a-f]{2})+$/i

const NO_LINES: readonly string[] = []

/** What the transaction printed that a call mined. */
function printedBy({ chain }: MethodContext, { result }: CallReport): readonly string[] {
  if (!isText(result, /^0x[0-9a-f]{64}$/)) return NO_LINES
  const place = transactionPlace(chain.state.tree, result as Hash)
  return place === undefined ? NO_LINES : executedAt(place).consoleLines.map(({ text }) => text)
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value)
}
