// What all chains of a program share: read or made once, however many there are.
import type { MethodContext } from '../methods/common/context.ts'
import type { Subscriptions } from '../methods/common/subscriptions.ts'
import type { Environment } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { Dispatcher } from '../rpc/dispatch.ts'
import type { Observer } from './observer.ts'

/** What a program may be given besides options: who watches it, and where it has time and chance from. */
export interface Hooks {
  readonly observer?: Observer
  readonly environment?: Partial<Environment>
  /** Where artifacts are looked for that no option names; nowhere when left out. */
  readonly folder?: string | undefined
  /** True: without accelerators of server, mining and logs. Tests hold the plain program against the whole with it. */
  readonly isPlain?: boolean
}

export interface Common {
  /** As the program was started. */
  readonly settings: DevchainSettings
  readonly hooks: Hooks
  readonly environment: Environment
  readonly dispatcher: Dispatcher<MethodContext>
  readonly subscriptions: Subscriptions
  /** True while a server listens. */
  readonly isListening: () => boolean
  readonly onBug: (error: unknown) => void
}
