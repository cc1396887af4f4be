// What handlers are given besides their parameters, and how a method is declared.
import type { ConsoleLine } from '../../evm/executor.ts'
import type { Again } from '../../node/chain/failedrun.ts'
import type { LogEntry } from '../../node/events/logs.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Node } from '../../node/node.ts'
import type { PeersDoor } from '../../node/peers.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { ProjectDoor } from '../../project/door.ts'
import type { DispatcherOptions, Reach } from '../../rpc/dispatch.ts'
import type { JsonText } from '../../rpc/jsontext.ts'
import { type Declaration, defineMethod, type Method, type Param } from '../../rpc/method.ts'
import type { Notes } from '../../rpc/schema.ts'
import type { MessageCaller, Session } from '../../rpc/session.ts'
import type { Profile } from '../compat/profile.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Which network is forked at which block; what is undefined stays as it is. */
export interface ForkOrder {
  readonly url: string | undefined
  /** A number, a hash, a tag, or a negative number, as after `@` of the option. */
  readonly block: string | undefined
}

/** Begins forks of other networks, and ends them. */
export interface ForkStarter {
  /** How methods are answered; undefined for as long as there was no fork. */
  readonly reach: Reach<MethodContext> | undefined
  /** True where a fork needs no URL, as one was named before. */
  readonly knowsNetwork: () => boolean
  /**
   * @returns the state that the chain begins with as that fork
   * @throws {DevchainError} `INVALID_PARAMS` for what cannot be forked, `UPSTREAM_FAILED` when the network cannot be asked
   */
  readonly begin: (order: ForkOrder) => Promise<ChainState>
  /**
   * Has another node asked from now on, by later forks of the same network too.
   * @throws {DevchainError} `METHOD_NOT_SUPPORTED` without a fork, `INVALID_PARAMS` for one that has another block
   */
  readonly move: (url: string) => Promise<void>
  /** @returns the state that the chain begins with without a network */
  readonly leave: () => Promise<ChainState>
}

/** Who is told of the requests to a chain. */
export interface RequestWatch {
  /** A request is not answered at once. @returns to be called when it is */
  readonly begin: (method: string, caller: MessageCaller) => () => void
  readonly observe: DispatcherOptions<MethodContext>['observe']
}

/** Everything that a handler may use. Made anew for each request. */
export interface MethodContext extends Node {
  /** The user's own contracts, as far as they are known. */
  readonly project: ProjectDoor
  readonly forking: ForkStarter
  /** The socket that the request came by; undefined for HTTP and in-process requests. */
  readonly session: Session | undefined
  /** Who asks. Work that takes long looks at `caller.signal` now and then: nobody may wait for it any more. */
  readonly caller: MessageCaller
  /** How to answer where nodes differ (`--compat`). */
  readonly profile: Profile
  readonly watch: RequestWatch
  /** Whether calls and blocks are logged. */
  readonly logging: { isEnabled: boolean }
  /** What `web3_clientVersion` and `rpc.discover` say of the program. */
  readonly info: { readonly name: string; readonly version: string }
  /** True while a server listens: the answer of `net_listening`. */
  readonly listening: boolean
  /** The methods that are answered, by name, once `disabled` and `aliases` are applied. */
  readonly registry: ReadonlyMap<string, Method<MethodContext>>
  /** Where handlers put the lines that contracts print while a call runs; the logger of the call takes them out. */
  readonly printed: string[]
  /** Where handlers put how what they ran can be run again, for the log to tell its calls; its logger takes it out. */
  readonly runs: Again[]
  /** Where handlers put remarks for the log that are not on the parameters; the logger of the call takes them out. */
  readonly notes: Notes
  /** True for what the program asks itself: the log has no line for it. */
  readonly isOwn: boolean
  /** What the program was started with. Of a chain, its state tells what holds now. */
  readonly options: DevchainSettings
  /** The subscriptions of all sessions: one for the whole process. */
  readonly subscriptions: Subscriptions
  /** The chains that this one is linked to. */
  readonly peers: PeersDoor
  /** The JSON of many logs, where an accelerator writes it (wire/logtext); undefined: they are encoded as any result. */
  readonly textOfLogs: ((entries: readonly LogEntry[]) => JsonText | undefined) | undefined
}

/** Lines of one call that are logged; the log says where more are left out. */
const PRINTED_LIMIT = 1_000

/** Puts what a run printed with what its call has printed already. */
export function printLines(
  { printed }: Pick<MethodContext, 'printed'>,
  { consoleLines }: { readonly consoleLines: readonly ConsoleLine[] },
): void {
  for (const { text } of consoleLines) {
    if (printed.length > PRINTED_LIMIT) return
    printed.push(printed.length === PRINTED_LIMIT ? 'too many lines: the rest is left out' : text)
  }
}

/** Notes how the first run of a call can be run again, where calls are told as trees (`--trace`). */
export function onRunOf({
  options,
  runs,
}: Pick<MethodContext, 'options' | 'runs'>): ((again: Again) => void) | undefined {
  if (options.trace === undefined) return undefined
  return (again) => {
    if (runs.length === 0) runs.push(again)
  }
}

export type Methods = readonly Method<MethodContext>[]

/** Makes a method of a declaration whose handler is given a `MethodContext`. */
export function method<const P extends readonly Param<unknown>[], R>(
  declaration: Declaration<MethodContext, P, R>,
): Method<MethodContext> {
  return defineMethod(declaration)
}
