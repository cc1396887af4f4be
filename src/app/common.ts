// What all chains of a program share: read or created once.
import type { MethodContext } from '../methods/common/context.ts'
import type { Subscriptions } from '../methods/common/subscriptions.ts'
import type { Profile } from '../methods/compat/profile.ts'
import type { Environment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { ArtifactsDoor } from '../project/artifactsdoor.ts'
import type { Dispatcher } from '../rpc/dispatch.ts'
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

export interface Common {
  readonly settings: DevchainSettings
  readonly hooks: Hooks
  readonly environment: Environment
  readonly dispatcher: Dispatcher<MethodContext>
  readonly subscriptions: Subscriptions
  readonly artifacts: ArtifactsDoor
  readonly profile: Profile
  readonly isListening: () => boolean
  readonly onBug: (error: unknown) => void
}
