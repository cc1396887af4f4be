// What all chains of a program share: read or created once.
import type { Executor } from '../evm/executor.ts'
import type { ChainsDoor } from '../methods/common/chains.ts'
import type { Subscriptions } from '../methods/common/subscriptions.ts'
import type { Environment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { ArtifactsDoor } from '../project/artifactsdoor.ts'
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
}

export type EngineSettings = Pick<DevchainSettings, 'evm' | 'memoryLimit'>

export interface Common {
  /** Of the default chain, and of all that have no options of their own. */
  readonly settings: DevchainSettings
  readonly hooks: Hooks
  readonly environment: Environment
  readonly subscriptions: Subscriptions
  readonly artifacts: ArtifactsDoor
  /** One executor for all chains with the same engine: it keeps compiled code. */
  readonly executorFor: (settings: EngineSettings) => Executor
  /** Called once the program is open. */
  readonly chains: () => ChainsDoor
  /** With `--state`. */
  readonly keeping: Keeping | undefined
  readonly isListening: () => boolean
  readonly onBug: (error: unknown) => void
}
