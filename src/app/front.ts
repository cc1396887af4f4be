// The front of a program: maps paths to chains and pages, and runs the server.
import { DevchainError } from '../core/errors.ts'
import { Subscriptions } from '../methods/common/subscriptions.ts'
import { profileOf } from '../methods/compat/profiles.ts'
import { type Environment, systemEnvironment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { ArtifactsDoor } from '../project/artifactsdoor.ts'
import type { Json } from '../rpc/schema.ts'
import type { Site } from '../rpc/site.ts'
import type { ServerFront, Target } from '../server/answer.ts'
import type { Refusal } from '../server/replies.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import { type Backend, openBackend } from './backend.ts'
import type { Common, Hooks } from './common.ts'
import { openDispatcher } from './dispatcher.ts'

/**
 * Opens a program with its first chain; every path leads to it while it is the only one.
 * @throws {DevchainError} as `openBackend` and `openDispatcher`
 */
export async function openFront(settings: DevchainSettings, hooks: Hooks): Promise<Front> {
  const environment: Environment = { ...systemEnvironment, ...hooks.environment }
  const onBug = hooks.observer?.onBug ?? environment.onBug
  const { onCall, onArtifacts: report = () => undefined } = hooks.observer ?? {}
  const profile = profileOf(settings.compat)
  let front: Front | undefined
  const common: Common = {
    settings,
    hooks,
    environment,
    dispatcher: await openDispatcher(settings, profile, onCall !== undefined, onBug),
    subscriptions: new Subscriptions(),
    artifacts: new ArtifactsDoor({ settings, folder: hooks.folder, report, onBug }),
    profile,
    isListening: () => front?.isListening === true,
    onBug,
  }
  front = new Front(common, await openBackend(common, { name: undefined, settings }))
  common.artifacts.readSoon()
  return front
}

export class Front implements ServerFront {
  readonly first: Backend
  readonly sites: readonly Site[]
  readonly #common: Common
  /** By path: `/` and the name. */
  readonly #named = new Map<string, Backend>()
  /** Paths of chains, also of those that are being opened. */
  readonly #taken = new Set(['/'])
  #server: Promise<RunningServer> | undefined
  #isListening = false

  constructor(common: Common, first: Backend) {
    this.#common = common
    this.first = first
    this.sites = [first.projectSite, healthSite(() => first.health)]
  }

  get isListening(): boolean {
    return this.#isListening
  }

  get artifacts(): ArtifactsDoor {
    return this.#common.artifacts
  }

  /**
   * Opens another chain under its name, with the program's options.
   * @throws {DevchainError} `INVALID_PARAMS` for the name of an open chain
   */
  async open(name: string): Promise<Backend> {
    const path = `/${name}`
    if (this.#taken.has(path)) {
      throw new DevchainError('INVALID_PARAMS', `there is already a chain at ${path}`)
    }
    this.#taken.add(path)
    // only the first chain has peers and imported blocks
    const settings = { ...this.#common.settings, peer: [], import: undefined }
    try {
      const backend = await openBackend(this.#common, { name, settings })
      this.#named.set(path, backend)
      return backend
    } catch (error) {
      this.#taken.delete(path)
      throw error
    }
  }

  readonly targetOf = (path: string): Target | Refusal => {
    if (this.#named.size === 0 || path === '/') return this.first
    return this.#named.get(path) ?? noChain(path)
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
    const failures = await Promise.all(
      [this.first, ...this.#named.values()].map((backend) => backend.close()),
    )
    this.#isListening = false
    await (await this.#server)?.close()
    const failure = failures.find((each) => each !== undefined)
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

function noChain(path: string): Refusal {
  return { status: 404, message: `there is no chain at ${path}` }
}
