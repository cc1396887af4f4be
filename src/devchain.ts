// createDevchain: puts a chain, its methods and its server together. The composition root, and the programmatic API.
import { DevchainError, printValue } from './core/errors.ts'
import { type Address, type Hex, hexFromBytes } from './core/hex.ts'
import { nearest } from './core/nearest.ts'
import { type Progress, Progresses } from './core/progress.ts'
import { Forking } from './forking.ts'
import { LinkEntrance } from './link/door.ts'
import type { MethodContext } from './methods/common/context.ts'
import { MODULES } from './methods/common/modules.ts'
import { Subscriptions } from './methods/common/subscriptions.ts'
import { programVersion } from './methods/common/version.ts'
import type { Profile } from './methods/compat/profile.ts'
import { describedBy, profileOf } from './methods/compat/profiles.ts'
import { firstMethods } from './methods/first.ts'
import { explaining } from './methods/tracing/explain.ts'
import { textOfLogs } from './methods/wire/logtext/logtext.ts'
import { addresses, keyOf } from './node/accounts/accounts.ts'
import { type Chain, type Environment, systemEnvironment } from './node/chain/chain.ts'
import type { ChainOptions } from './node/chainoptions.ts'
import { stateFrom } from './node/create.ts'
import { headOf } from './node/ledger/blocktree.ts'
import type { Node } from './node/node.ts'
import type { PeerInfo } from './node/peers.ts'
import { type Observer, observing, whileLogging } from './observer.ts'
import { chainParameters, type DevchainSettings } from './options/derived.ts'
import { OPTIONS } from './options/table.ts'
import { readPeerUrl } from './options/values.ts'
import { PROGRAM } from './program.ts'
import type { CoverageReport } from './project/coverage/coverage.ts'
import { isAskedOfProject, ProjectDoor } from './project/door.ts'
import type { GasRow, GasSummary } from './project/gas/report.ts'
import { createDispatcher, type Dispatcher } from './rpc/dispatch.ts'
import type { Method } from './rpc/method.ts'
import { moduleOf } from './rpc/registry.ts'
import type { Json } from './rpc/schema.ts'
import { Caller, MessageCaller } from './rpc/session.ts'
import { type RunningServer, startServer } from './server/server.ts'
import { type DevchainOptions, readDevchainOptions } from './settings.ts'
import {
  checkIdentity,
  createNodeFrom,
  readBlocks,
  readGenesis,
  readPredeploys,
} from './startfiles.ts'

export type { CallFailure, ObservedCall, Observer } from './observer.ts'
export type { RpcError } from './rpc/errors.ts'
export type { DevchainOptions } from './settings.ts'

/** What a chain may be given besides options: who watches it, and where it has time and chance from. */
export interface Hooks {
  readonly observer?: Observer
  readonly environment?: Partial<Environment>
  /** Where artifacts are looked for that no option names; nowhere when left out. */
  readonly folder?: string | undefined
  /** True: without accelerators of server, mining and logs. Tests hold the plain program against the whole with it. */
  readonly isPlain?: boolean
}

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
  await checkNames(settings)
  const base = baseOf(settings, hooks)
  const { environment, observer, onBug, progresses } = base
  const forking = new Forking(settings, (text) => observer.onNotice?.(text), onBug)
  const options = await chainOptions(base, forking)
  const node = await createNodeFrom(settings, options)
  const { chain } = node
  await forking.serve(chain, (fork) => stateFrom({ ...options, fork }, environment.now()))
  chain.onClose(() => progresses.close())
  observer.onChain?.(chain)
  if (observer.onChange !== undefined) chain.onChange(observer.onChange)
  const project = openDoor(settings, hooks, chain, onBug)
  await project.begin()
  const dispatcher = await openDispatcher(base, chain, forking)
  const subscriptions = new Subscriptions()
  const peers = openLinks(base, chain, subscriptions)
  await peers.start()
  return assemble({ ...base, node, chain, project, forking, dispatcher, subscriptions, peers })
}

/** What the parts of a program have in common. */
interface Base {
  readonly settings: DevchainSettings
  readonly environment: Environment
  readonly profile: Profile
  readonly logging: MethodContext['logging']
  /** Hears nothing while logging is off. */
  readonly observer: Observer
  readonly progresses: Progresses
  readonly isPlain: boolean | undefined
  readonly onBug: (error: unknown) => void
}

function baseOf(settings: DevchainSettings, hooks: Hooks): Base {
  const environment: Environment = { ...systemEnvironment, ...hooks.environment }
  const onBug = hooks.observer?.onBug ?? environment.onBug
  const logging = { isEnabled: true }
  const observer = whileLogging(hooks.observer ?? {}, logging)
  const progresses = new Progresses((running) => observer.onRunning?.(running))
  const profile = profileOf(settings.compat)
  const { isPlain } = hooks
  return { settings, environment, profile, logging, observer, progresses, isPlain, onBug }
}

async function chainOptions(
  { settings, environment, profile, progresses, isPlain, onBug }: Base,
  forking: Forking,
): Promise<ChainOptions> {
  const genesis = await readGenesis(settings)
  checkIdentity(settings, genesis)
  const begin = (name: string, progress: Progress): (() => void) => progresses.begin(name, progress)
  return {
    ...chainParameters(settings),
    ...(await forking.atStart()),
    genesis,
    predeploys: await readPredeploys(settings, genesis),
    blocks: await readBlocks(settings),
    behaviour: profile.chain,
    unsaid: profile.defaults,
    isPlain,
    environment: { ...environment, onBug, begin },
  }
}

async function openDispatcher(
  { settings, profile, observer, progresses, onBug }: Base,
  chain: Chain,
  forking: Forking,
): Promise<Dispatcher<MethodContext>> {
  const namesAll = settings.disable.length + settings.alias.length > 0
  return createDispatcher<MethodContext>({
    methods: namesAll ? await loadMethods() : firstMethods,
    loadAll: namesAll ? undefined : loadMethods,
    disabled: settings.disable,
    aliases: settings.alias,
    absent: profile.absent,
    adapt: profile.adaptForms,
    reach: forking.reach,
    observe: observer.onCall && observing(observer.onCall),
    begin: (method, { caller }) => {
      caller.begin()
      return progresses.begin(method, caller)
    },
    describe: (error, method, cause) =>
      describedBy(profile, error, method, headOf(chain.state.tree).block.header.number, cause),
    explain: settings.plainErrors ? undefined : explaining(onBug),
    onBug,
  })
}

function openLinks(
  { settings, observer, onBug }: Base,
  chain: Chain,
  subscriptions: Subscriptions,
): LinkEntrance {
  return new LinkEntrance({
    chain,
    settings,
    client: programVersion(PROGRAM),
    tell: (event) => observer.onPeer?.(event),
    onSyncing: (status) => subscriptions.tellSyncing(chain, status),
    onBug,
  })
}

/** How long the artifacts of a project leave the processor to the first calls. */
const FIRST_CALLS_MS = 20

/** The door to the user's project, whose artifacts are read a little later. */
function openDoor(
  settings: DevchainSettings,
  { observer = {}, folder }: Hooks,
  chain: Chain,
  onBug: (error: unknown) => void,
): ProjectDoor {
  const tell = observer.onArtifacts ?? (() => undefined)
  const onNames = observer.onNames ?? (() => undefined)
  const door = new ProjectDoor({ chain, settings, folder, tell, onNames, onBug })
  const timer = setTimeout(() => void door.read(), FIRST_CALLS_MS).unref()
  chain.onClose(() => {
    clearTimeout(timer)
    door.close()
  })
  return door
}

interface Parts extends Base {
  readonly node: Node
  readonly chain: Chain
  readonly project: ProjectDoor
  readonly forking: Forking
  readonly dispatcher: Dispatcher<MethodContext>
  readonly subscriptions: Subscriptions
  readonly peers: LinkEntrance
}

/** Makes the context of each request. */
function createContexts(
  parts: Parts,
  isListening: () => boolean,
): (caller: Caller, isOwn?: boolean) => MethodContext {
  const { settings, node, project, forking, dispatcher, profile, logging, isPlain } = parts
  const { peers, subscriptions } = parts
  const { chain, filters, getWork } = node
  // one is made for every request too
  return (caller, isOwn = false) => ({
    chain,
    filters,
    getWork,
    project,
    forking,
    session: caller.session,
    caller: new MessageCaller(caller),
    info: PROGRAM,
    profile,
    logging,
    listening: isListening(),
    printed: [],
    runs: [],
    notes: [],
    isOwn,
    registry: dispatcher.registry,
    options: settings,
    subscriptions,
    peers,
    // an accelerator
    textOfLogs: isPlain ? undefined : textOfLogs,
  })
}

function assemble(parts: Parts): Devchain {
  const { settings, node, chain, dispatcher, environment, observer, isPlain, peers, onBug } = parts
  let server: Promise<RunningServer> | undefined
  let isListening = false
  const ownProcess = new Caller()
  const makeContext = createContexts(parts, () => isListening)
  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    dispatcher.request(makeContext(ownProcess, true), method, params)
  const listen = async (): Promise<Endpoints> => {
    const { host, port, allowHost, allowOrigin, bodyLimit } = settings
    server ??= startServer({
      dispatcher,
      makeContext,
      host,
      port,
      allowHost,
      allowOrigin,
      onForeignHost: (header) => observer.onForeignHost?.(header),
      onNotice: (text) => observer.onNotice?.(text),
      bodyLimit,
      isPlain,
      links: peers,
      site: { owns: isAskedOfProject, answer: (request) => parts.project.answer(request, ask) },
      info: () => healthOf(chain),
      onBug,
    })
    try {
      const { url, port: bound } = await server
      isListening = true
      return { url, wsUrl: url.replace('http', 'ws'), port: bound }
    } catch (error) {
      // Another attempt may find the port free.
      server = undefined
      throw error
    }
  }
  const close = async (): Promise<void> => {
    const written =
      settings.coverage === undefined ? undefined : await settled(parts.project.writeCoverage())
    chain.close()
    isListening = false
    ownProcess.hangUp()
    await (await server)?.close()
    if (written instanceof Error) throw written
  }
  return {
    request: ({ method, params }) => dispatcher.request(makeContext(ownProcess), method, params),
    node,
    peers: linkedChains(peers),
    accounts: devAccounts(chain, environment.now()),
    artifactsRead: () => parts.project.read(),
    artifactsReadAgain: () => parts.project.refresh(),
    gasReport: async () => (await parts.project.gasReport()).rows,
    gasSummary: () => parts.project.gasReport(),
    coverage: () => parts.project.coverage(),
    writeCoverage: () => parts.project.writeCoverage(),
    listen,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What a promise comes to, or its error. */
function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => error)
}

function linkedChains(peers: LinkEntrance): LinkedChains {
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

/** What `GET /health` answers. */
function healthOf(chain: Chain): Json {
  const { config, tree } = chain.state
  const blockNumber = Number(headOf(tree).block.header.number)
  return { ...PROGRAM, chainId: Number(config.chainId), blockNumber }
}

/** The accounts that are unlocked at the start, with their keys. */
function devAccounts(chain: Chain, now: number): readonly DevAccount[] {
  const book = chain.state.accounts
  return addresses(book).flatMap((address) => {
    const key = keyOf(book, address, now)
    return key === undefined ? [] : [{ address, privateKey: hexFromBytes(key) }]
  })
}

/** All methods. Most of them are loaded when one is asked for, as a start would take a tenth longer with them. */
async function loadMethods(): Promise<readonly Method<MethodContext>[]> {
  return (await import('./methods/index.ts')).methods
}

/**
 * A module to turn off, and what an alias stands for, must exist.
 * @throws {DevchainError} `INVALID_PARAMS` naming the nearest that does
 */
async function checkNames({ disable, alias }: DevchainSettings): Promise<void> {
  if (disable.length + alias.length === 0) return
  const names = (await loadMethods()).flatMap((method) => [method.name, ...method.aliases])
  const modules = [...new Set(names.map(moduleOf))]
  for (const module of disable) checkName('module', module, [...modules, ...MODULES])
  for (const { to } of alias) {
    if (to.endsWith('_*')) checkName('module', moduleOf(to), modules)
    else checkName('method', to, names)
  }
}

function checkName(kind: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const message = `there is no ${kind} ${name}; did you mean ${nearest(name, known, Infinity)}?`
  throw new DevchainError('INVALID_PARAMS', message)
}
