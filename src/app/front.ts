// The front of a program: maps paths to chains and pages, and runs the server.
import { Subscriptions } from '../methods/common/subscriptions.ts'
import { profileOf } from '../methods/compat/profiles.ts'
import { type Environment, systemEnvironment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { ArtifactsDoor } from '../project/artifactsdoor.ts'
import type { Json } from '../rpc/schema.ts'
import type { Site } from '../rpc/site.ts'
import type { ServerFront } from '../server/answer.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import { type Backend, type BackendOptions, healthOf, type Origin, openBackend } from './backend.ts'
import { Chains } from './chains.ts'
import { chainSites } from './chainsites.ts'
import type { Common, Hooks } from './common.ts'
import { openDispatcher } from './dispatcher.ts'
import { Engines } from './engines.ts'
import type { Forking } from './forking.ts'
import { beginningOf, type DefaultBeginning, withDumpFile } from './keeping/beginning.ts'
import { type Keeping, openKeeping } from './keeping/keeping.ts'
import { ownSettings } from './settings.ts'

/**
 * Opens a program with its default chain.
 * @throws {DevchainError} as `openBackend` and `openDispatcher`
 */
export async function openFront(asGiven: DevchainSettings, hooks: Hooks): Promise<Front> {
  const given = withDumpFile(asGiven)
  const onNotice = (text: string): void => hooks.observer?.onNotice?.(text)
  const keeping = await openKeeping(given, onNotice)
  try {
    return await openOn(await beginningOf(given, keeping, onNotice), keeping, hooks)
  } catch (error) {
    await keeping?.close()
    throw error
  }
}

async function openOn(
  { settings, kept, state }: DefaultBeginning,
  keeping: Keeping | undefined,
  hooks: Hooks,
): Promise<Front> {
  const environment: Environment = { ...systemEnvironment, ...hooks.environment }
  const onBug = hooks.observer?.onBug ?? environment.onBug
  const { onArtifacts: report = () => undefined } = hooks.observer ?? {}
  let front: Front | undefined
  const engines = new Engines(onBug)
  const common: Common = {
    settings,
    hooks,
    environment,
    executorFor: engines.executorFor,
    subscriptions: new Subscriptions(),
    artifacts: new ArtifactsDoor({ settings, folder: hooks.folder, report, onBug }),
    isListening: () => front?.isListening === true,
    chains: () => front!.chains,
    keeping,
    onBug,
  }
  const wire = await openWire(common, settings)
  const first = await openBackend(common, { name: undefined, settings, ...wire, kept, state })
  front = new Front(common, { first, wire, engines })
  front.chains.wake()
  common.artifacts.readSoon()
  return front
}

/** How the methods of chains with these options answer. */
async function openWire({ hooks, onBug }: Common, settings: DevchainSettings): Promise<Wire> {
  const profile = profileOf(settings.compat)
  const isObserved = hooks.observer?.onCall !== undefined
  return { profile, dispatcher: await openDispatcher(settings, profile, isObserved, onBug) }
}

type Wire = Pick<BackendOptions, 'profile' | 'dispatcher'>

interface FrontParts {
  readonly first: Backend
  readonly wire: Wire
  readonly engines: Engines
}

export class Front implements ServerFront {
  readonly first: Backend
  readonly chains: Chains
  readonly sites: readonly Site[]
  readonly targetOf: ServerFront['targetOf']
  readonly #common: Common
  readonly #parts: FrontParts
  #origin: Promise<Origin>
  #held: Forking | undefined
  #server: Promise<RunningServer> | undefined
  #isListening = false

  constructor(common: Common, parts: FrontParts) {
    const { first } = parts
    const { settings, environment, keeping, onBug } = common
    this.#common = common
    this.#parts = parts
    this.first = first
    // chains begin where this one began, whatever happens to it, unless a set-up decides
    const { state, forking } = first.origin
    this.#origin = Promise.resolve(
      this.#hold({ state: keeping?.setUp ?? state.origin ?? state, forking }),
    )
    this.chains = new Chains({
      settings,
      first,
      origin: () => this.#origin,
      openBranch: (name, from, isKept) => this.#openBranch(name, from, isKept),
      openOwn: (name, options) => this.#ownOpener(name, options),
      keeping,
      now: () => environment.now(),
      onBug,
    })
    this.targetOf = this.chains.targetOf
    this.sites = [
      first.projectSite,
      ...chainSites({ chains: this.chains, onBug }),
      healthSite(() => healthOf(first.node.chain.state)),
    ]
  }

  get isListening(): boolean {
    return this.#isListening
  }

  get artifacts(): ArtifactsDoor {
    return this.#common.artifacts
  }

  /**
   * Runs work on the default chain, unless it was set up before; chains that open later begin with what it left. Rejects as the
   * work does.
   */
  async setUp(work: () => Promise<unknown>): Promise<void> {
    const { keeping } = this.#common
    if (keeping?.setUp !== undefined) return
    const before = this.#held
    this.#origin = work().then(() => this.#hold(this.first.origin))
    const { state } = await this.#origin
    await keeping?.keepSetUp(state)
    before?.leaveAll()
  }

  /** What chains begin with stays, even if the default chain leaves its fork. */
  #hold({ state, forking }: Origin): Origin {
    this.#held = forking.held()
    return { state, forking: this.#held }
  }

  #openBranch(name: string, from: Origin, isKept: boolean): Promise<Backend> {
    const settings = { ...this.#common.settings, peer: [], import: undefined }
    const kept = isKept ? this.#common.keeping?.place(name, {}) : undefined
    return openBackend(this.#common, { name, settings, ...this.#parts.wire, from, kept })
  }

  #ownOpener(name: string, options: object): () => Promise<Backend> {
    const common = this.#common
    const settings = ownSettings(common.settings, options)
    return async () => {
      const kept = this.#common.keeping?.place(name, { options })
      return openBackend(common, { name, settings, ...(await openWire(common, settings)), kept })
    }
  }

  /** Starts the server, or returns where it already listens. Rejects with node's `EADDRINUSE` when the port is taken. */
  async listen(): Promise<RunningServer> {
    this.#server ??= this.#start()
    try {
      const server = await this.#server
      this.#isListening = true
      return server
    } catch (error) {
      // A retry may find the port free.
      this.#server = undefined
      throw error
    }
  }

  /** Closes everything; may be called again. @throws the error that kept a report from being written */
  async close(): Promise<void> {
    const [failure] = await Promise.all([this.first.close(), this.chains.close()])
    await this.#common.keeping?.close()
    this.#held?.leaveAll()
    this.#isListening = false
    await (await this.#server)?.close()
    this.#parts.engines.close()
    if (failure !== undefined) throw failure
  }

  #start(): Promise<RunningServer> {
    const { settings, hooks, onBug } = this.#common
    const { host, port, allowHost, allowOrigin, bodyLimit } = settings
    const { observer, peers } = this.first
    return startServer({
      front: { targetOf: this.targetOf, sites: this.sites, links: peers },
      host,
      port,
      allowHost,
      allowOrigin,
      bodyLimit,
      isPlain: hooks.isPlain,
      onForeignHost: (header) => observer.onForeignHost?.(header),
      onNotice: (text) => observer.onNotice?.(text),
      onBug,
    })
  }
}

/** Replies to `GET /` and `GET /health`, for browsers and readiness probes. */
export function healthSite(info: () => Json): Site {
  return {
    owns: ({ method, target }) => method === 'GET' && /^\/(health)?(\?|$)/.test(target),
    answer: async () => ({
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify(info()),
    }),
  }
}
