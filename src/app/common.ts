// What all chains of a program share: read or created once.
import { getOrMake } from '../core/lrucache.ts'
import type { Executor } from '../evm/executor.ts'
import { createExecutor } from '../evm/run/lazyexecutor.ts'
import type { ChainsDoor } from '../methods/common/chains.ts'
import { Subscriptions } from '../methods/common/subscriptions.ts'
import { type Environment, systemEnvironment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { ArtifactsDoor, type OtherThreads } from '../project/artifactsdoor.ts'
import type { Keeping } from './keeping/keeping.ts'
import type { Observer } from './observer.ts'

/** What a program may get besides options: observers, clock and randomness. */
export interface Hooks {
  readonly observer?: Observer
  readonly environment?: Partial<Environment>
  /** Folder searched for artifacts when no option names one; undefined: no search. */
  readonly folder?: string | undefined
  /** True: no accelerators in server, mining and logs. Tests compare this plain program with the full one. */
  readonly isPlain?: boolean
  /** Bytes from which on chains on disk are compacted; undefined: 64 MB. */
  readonly leastCompacted?: number | undefined
}

interface CommonOptions {
  /** Of the default chain, and of all that have no options of their own. */
  readonly settings: DevchainSettings
  readonly hooks: Hooks
  /** Called once the program is open. */
  readonly chains: () => ChainsDoor
  /** With `--state`. */
  readonly keeping: Keeping | undefined
  readonly isListening: () => boolean
  /** Undefined if there are none. */
  readonly otherThreads: OtherThreads | undefined
  readonly onBug: (error: unknown) => void
}

export interface Common extends CommonOptions {
  readonly environment: Environment
  readonly subscriptions: Subscriptions
  readonly artifacts: ArtifactsDoor
  /** Chains with the same engine share an executor. */
  readonly engines: Engines
}

class Engines {
  readonly #onBug: (error: unknown) => void
  readonly #executors = new Map<string, Executor>()

  constructor(onBug: (error: unknown) => void) {
    this.#onBug = onBug
  }

  executorFor({ evm, memoryLimit }: DevchainSettings): Executor {
    const key = `${evm} ${memoryLimit}`
    const options = { evm, memoryLimit, onBug: this.#onBug }
    return getOrMake(this.#executors, key, () => createExecutor(options))
  }

  /** Cancels everything that runs. */
  close(): void {
    for (const executor of this.#executors.values()) executor.close()
  }
}

/** What the chains of a thread share. */
export function openCommon(options: CommonOptions): Common {
  const { settings, hooks, otherThreads, onBug } = options
  const { folder, observer: { onArtifacts: report = () => undefined } = {} } = hooks
  const subscriptions = new Subscriptions()
  const onNames = (): void => subscriptions.notifyNames()
  return {
    ...options,
    environment: { ...systemEnvironment, ...hooks.environment },
    engines: new Engines(onBug),
    subscriptions,
    artifacts: new ArtifactsDoor({ settings, folder, report, onBug, onNames, otherThreads }),
  }
}
