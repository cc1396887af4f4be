// The context of handlers, and how methods are declared.
import type { ConsoleLine } from '../../evm/executor.ts'
import type { Rerun } from '../../node/chain/failedrun.ts'
import type { LogEntry } from '../../node/events/logs.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Node } from '../../node/node.ts'
import type { PeersDoor } from '../../node/peers.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { ProjectDoor } from '../../project/door.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { DispatcherOptions, Reach } from '../../rpc/dispatch.ts'
import { type Declaration, defineMethod, type Method, type Param } from '../../rpc/method.ts'
import type { Notes } from '../../rpc/schema.ts'
import type { MessageCaller } from '../../rpc/session.ts'
import type { Profile } from '../compat/profile.ts'
import type { ChainsDoor } from './chains.ts'
import type { Subscriptions } from './subscriptions.ts'

/** A fork request; undefined members stay as they are. */
export interface ForkOrder {
  readonly url: string | undefined
  /** A number, a hash, a tag, or a negative number, as after `@` of the option. */
  readonly block: string | undefined
}

/** Starts and ends forks of other networks. */
export interface ForkStarter {
  /** How methods reach the forked network; undefined if there was no fork yet. */
  readonly reach: Reach<MethodContext> | undefined
  /** True if an earlier fork gave a URL. */
  readonly knowsNetwork: () => boolean
  /**
   * @returns the fork's initial state
   * @throws {DevchainError} `INVALID_PARAMS` for a fork that is impossible, `UPSTREAM_FAILED` if the network does not
   * answer
   */
  readonly begin: (order: ForkOrder) => Promise<ChainState>
  /**
   * Changes the RPC URL, also for later forks of the same network.
   * @throws {DevchainError} `METHOD_NOT_SUPPORTED` without a fork, `INVALID_PARAMS` if the new node has another block
   */
  readonly move: (url: string) => Promise<void>
  /** @returns the initial state without a fork */
  readonly leave: () => Promise<ChainState>
}

/** Observes the requests to a chain. */
export interface RequestWatch {
  /** Called for an asynchronous request. @returns to be called at its end */
  readonly begin: (method: string, caller: MessageCaller) => () => void
  readonly observe: DispatcherOptions<MethodContext>['observe']
}

/** Everything a handler may use. Made for each request. */
export interface MethodContext extends Node {
  /** The user's contracts, as far as known. */
  readonly project: ProjectDoor
  readonly forking: ForkStarter
  /** Cancels long work when the client disconnects. */
  readonly caller: MessageCaller
  /** The behavior of the node named by `--compat`. */
  readonly profile: Profile
  readonly watch: RequestWatch
  readonly logging: { isEnabled: boolean }
  /** For `web3_clientVersion` and `rpc.discover`. */
  readonly info: { readonly name: string; readonly version: string }
  /** True while a server listens: the result of `net_listening`. */
  readonly listening: boolean
  /** The available methods by name, after `disabled` and `aliases`. */
  readonly registry: ReadonlyMap<string, Method<MethodContext>>
  /** Console lines of contracts in this call; the logger of the call takes them out. */
  readonly printed: string[]
  /** How to repeat the runs of this call, for call traces in the log; its logger takes them out. */
  readonly runs: Rerun[]
  /** Notes for the log that are not about parameters; the logger of the call takes them out. */
  readonly notes: Notes
  /** True for the program's own requests, which are not logged. */
  readonly isOwn: boolean
  /** The options at the start. The chain's state has the current values. */
  readonly options: DevchainSettings
  /** Subscriptions of all sessions in the process. */
  readonly subscriptions: Subscriptions
  /** The linked chains. */
  readonly peers: PeersDoor
  /** All chains of the program. */
  readonly chains: ChainsDoor
  /** A comma and the JSON of a log from an accelerator (wire/logtext); undefined: the normal encoder. */
  readonly bytesOfLog: ((entry: LogEntry) => Buffer) | undefined
}

/** The newest block. */
export function headBlock({ chain }: Pick<MethodContext, 'chain'>): Block {
  return headOf(chain.state.tree).block
}

/** Logged console lines of one call; the log says if there were more. */
const PRINTED_LIMIT = 1_000

/** Adds a run's console lines to those of its call. */
export function printLines(
  { printed }: Pick<MethodContext, 'printed'>,
  { consoleLines }: { readonly consoleLines: readonly ConsoleLine[] },
): void {
  for (const { text } of consoleLines) {
    if (printed.length > PRINTED_LIMIT) return
    printed.push(printed.length === PRINTED_LIMIT ? 'too many lines: the rest is left out' : text)
  }
}

/** Keeps the first run of a call for its call trace (`--trace`). */
export function onRunOf({
  options,
  runs,
}: Pick<MethodContext, 'options' | 'runs'>): ((rerun: Rerun) => void) | undefined {
  if (options.trace === undefined) return undefined
  return (rerun) => {
    if (runs.length === 0) runs.push(rerun)
  }
}

export type Methods = readonly Method<MethodContext>[]

/** A declaration without the name, which stands before it. */
export type Declared<P extends readonly Param<unknown>[], R> = Omit<
  Declaration<MethodContext, P, R>,
  'name'
>

export function method<const P extends readonly Param<unknown>[] = readonly [], R = unknown>(
  name: string,
  declared: Declared<P, R>,
): Method<MethodContext> {
  return defineMethod({ name, ...declared })
}
