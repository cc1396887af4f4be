// The front of a program: maps paths to chains and pages, and runs the server.
import { DevchainError } from '../core/errors.ts'
import { systemEnvironment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { ArtifactsDoor } from '../project/artifactsdoor.ts'
import type { GasSummary } from '../project/gas/report.ts'
import type { Json } from '../rpc/schema.ts'
import type { Site } from '../rpc/site.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import { type Backend, type Begun, held, type Origin, openAtPath, openBackend } from './backend.ts'
import { healthOf } from './chainfacts.ts'
import { Chains, type How } from './chains.ts'
import { chainSites } from './chainsites.ts'
import { type Common, type Hooks, openCommon } from './common.ts'
import { openWire, type Wire } from './dispatcher.ts'
import type { Forking } from './forking.ts'
import { beginningOf, type DefaultBeginning, withDumpFile } from './keeping/beginning.ts'
import { type Keeping, openKeeping } from './keeping/keeping.ts'
import { pageSite } from './pagesite.ts'
import type { ServedChain } from './slot.ts'
import type { Threads } from './threads/threads.ts'

/**
 * Opens a program with its default chain.
 * @throws {DevchainError} as `openBackend` and `openWire`
 */
export async function openFront(asGiven: DevchainSettings, hooks: Hooks): Promise<Front> {
  const given = withDumpFile(asGiven)
  const onNotice = (text: string): void => hooks.observer?.onNotice?.(text)
  const { observer, leastCompacted } = hooks
  const onFailure = observer?.onFailure
  const keeping = await openKeeping(given, { onNotice, onFailure, leastCompacted })
  try {
    return await openOn(await beginningOf(given, keeping, onNotice), keeping, hooks)
  } catch (error) {
    await keeping?.close()
    throw error
  }
}

async function openOn(
  { settings, kept, pack }: DefaultBeginning,
  keeping: Keeping | undefined,
  hooks: Hooks,
): Promise<Front> {
  let front: Front | undefined
  const common = openCommon({
    settings,
    hooks,
    isListening: () => front?.isListening === true,
    chains: () => front!.chains,
    otherThreads:
      settings.threads === 0
        ? undefined
        : {
            share: async (added) => (await front!.threads())?.share(added, undefined),
            countedCode: async () => (await front?.threads())?.countedCode(undefined) ?? [],
          },
    keeping,
    onBug: hooks.observer?.onBug ?? hooks.environment?.onBug ?? systemEnvironment.onBug,
  })
  const wire = await openWire(common, settings)
  const first = await openBackend(common, { name: undefined, settings, ...wire, kept, pack })
  pack?.fork?.leave()
  if (keeping !== undefined && keeping.beginning === undefined) {
    const { state: now } = first.node.chain
    await keeping.keepBeginning(now.origin ?? now, false)
  }
  front = new Front(common, first, wire)
  front.chains.wake()
  common.artifacts.readSoon()
  return front
}

export class Front {
  readonly first: Backend
  readonly chains: Chains
  readonly sites: readonly Site[]
  readonly #common: Common
  readonly #wire: Wire
  /** Loaded for the first chain of a thread. */
  #threadsOpen: Promise<Threads> | undefined
  #origin: Promise<Origin>
  #held: Forking | undefined
  /** The set-up runs, and no chain waits for it yet. */
  #isSetUpAlone = false
  #server: Promise<RunningServer> | undefined
  isListening = false

  constructor(common: Common, first: Backend, wire: Wire) {
    const { settings, environment, keeping, onBug } = common
    this.#common = common
    this.#wire = wire
    this.first = first
    // chains begin where this one began, whatever happens to it, unless a set-up decides
    const { state, forking } = first.origin()
    this.#origin = Promise.resolve(this.#hold({ state: state.origin ?? state, forking }))
    this.chains = new Chains({
      settings,
      first,
      origin: async () => {
        if (this.#isSetUpAlone) first.observer.onNotice?.(SET_UP_FIRST)
        this.#isSetUpAlone = false
        const origin = await this.#origin
        return { ...origin, state: keeping?.beginning ?? origin.state }
      },
      open: (name, begun, how) => this.#open(name, begun, how),
      keeping,
      now: () => environment.now(),
      onBug,
    })
    this.sites = [
      first.projectSite,
      ...(settings.noPage ? [] : [pageSite((path) => this.chains.isReachable(path))]),
      ...chainSites({ chains: this.chains, onBug }),
      healthSite(() => healthOf(first.facts())),
    ]
  }

  get artifacts(): ArtifactsDoor {
    return this.#common.artifacts
  }

  /** The gas of all chains. */
  async gasSummary(): Promise<GasSummary> {
    const threads = await this.#threadsOpen
    return await this.artifacts.gasSummary((await threads?.countedGas()) ?? [])
  }

  /**
   * Runs work on the default chain, unless it was set up before; chains that open later begin with what it left. Rejects as the
   * work does; then chains at paths are refused until another set-up succeeds.
   */
  async setUp(work: () => Promise<unknown>): Promise<void> {
    const { keeping } = this.#common
    if (keeping?.isSetUp === true) return
    const before = this.#held
    this.#isSetUpAlone = true
    const worked = work()
      .finally(() => {
        this.#isSetUpAlone = false
      })
      .then(() => this.#hold(this.first.origin()))
    this.#origin = worked.catch((error: unknown) => {
      throw setUpFailure(error)
    })
    // whoever asks for a chain gets it
    this.#origin.catch(() => undefined)
    const { state } = await worked
    await keeping?.keepBeginning(state, true)
    before?.leaveAll()
  }

  /** What chains begin with stays, even if the default chain leaves its fork. */
  #hold(origin: Origin): Origin {
    const kept = held(origin)
    this.#held = kept.forking
    return kept
  }

  /** Undefined without `--threads`. */
  async threads(): Promise<Threads | undefined> {
    if (this.#common.settings.threads === 0) return undefined
    this.#threadsOpen ??= import('./threads/threads.ts').then(
      ({ Threads }) => new Threads(this.#common),
    )
    return await this.#threadsOpen
  }

  async #open(name: string, begun: Begun, how: How): Promise<ServedChain> {
    const keeping = how.isKept ? this.#common.keeping : undefined
    const about = 'options' in begun ? begun : {}
    const threads = how.place === 'anywhere' ? await this.threads() : undefined
    if (threads?.takes(begun) === true) {
      const isThere = keeping?.has(name) === true
      const kept = await keeping?.lend(name, about)
      if (keeping === undefined || kept !== undefined)
        return await threads.open(name, isThere ? undefined : begun, kept, how.onLost)
    }
    const kept = keeping?.place(name, about)
    return await openAtPath(this.#common, this.#wire, name, begun, kept)
  }

  /**
   * Starts the server, or returns where it already listens. Rejects with node's `EADDRINUSE` when the port is taken, and once
   * this is closed.
   */
  async listen(): Promise<RunningServer> {
    this.chains.requireOpen()
    this.#server ??= this.#start()
    try {
      const server = await this.#server
      this.isListening = true
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
    await (await this.#threadsOpen)?.close()
    await this.#common.keeping?.close()
    this.#held?.leaveAll()
    this.isListening = false
    await (await this.#server)?.close()
    this.#common.engines.close()
    if (failure !== undefined) throw failure
  }

  #start(): Promise<RunningServer> {
    const { settings, hooks, onBug } = this.#common
    const { host, port, allowHost, allowOrigin, bodyLimit } = settings
    const { observer, peers } = this.first
    return startServer({
      front: { targetOf: this.chains.targetOf, sites: this.sites, links: peers },
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

const SET_UP_FIRST =
  'chains at paths wait until the set-up ends; if it waits for one of them, it never does: it can use the default chain at /'

function setUpFailure(error: unknown): DevchainError {
  const why = error instanceof Error ? error.message : String(error)
  const message = `chains at paths begin with what the set-up leaves, and it failed: ${why}. Run another set-up, or start devchain again`
  return new DevchainError('CANCELLED', message)
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
