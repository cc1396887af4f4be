// The observer interface: the events a chain emits.
import { DevchainError, ExecutionError } from '../core/errors.ts'
import type { ProgressReport } from '../core/progress.ts'
import type { MethodContext, RequestWatch } from '../methods/common/context.ts'
import { type FailedExecution, failureOf } from '../methods/compat/failure.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Rerun } from '../node/chain/failedrun.ts'
import type { StateChange } from '../node/ledger/change.ts'
import type { PeerEvent } from '../node/peers.ts'
import type { ProjectEvent } from '../project/events.ts'
import type { Project } from '../project/project.ts'
import type { Effects } from '../rpc/method.ts'
import type { CallDetails, CallReport } from '../rpc/report.ts'
import type { Meaning } from '../rpc/schema.ts'

export type CallFailure = Pick<FailedExecution, 'reason' | 'data' | 'hash'>

/** A call, with the console lines of contracts that ran for this call alone, outside a transaction. */
export interface ObservedCall extends CallReport {
  readonly console: readonly string[]
  /** What the method changes; undefined for unknown methods. */
  readonly effects?: Effects | undefined
  /** What the result means where its form does not show it. */
  readonly meaning?: Meaning | undefined
  /** What the call did, as a phrase where the result does not show it; addresses and hashes in full. */
  readonly description?: string | undefined
  /** How the execution failed, independent of the error text the caller gets. */
  readonly failure?: CallFailure | undefined
  /** Why the call was refused, independent of the error text the caller gets. */
  readonly refusal?: Pick<DevchainError, 'word' | 'facts'> | undefined
  /** A read of the page, of which there are hundreds for each look at it. */
  readonly isPageRead?: boolean | undefined
  /** How to run the call again, where its call trace is to be logged. */
  readonly rerun?: Rerun | undefined
}

/** How chains in other threads are logged. */
export interface ThreadLog {
  /** Sent to each thread, for whoever writes the log there: plain values. */
  readonly order: unknown
  /** Gets whole lines. */
  readonly write: (text: string) => void
}

/** Callbacks for a chain's events; they cannot change the chain. */
export interface Observer {
  /** The chain is ready. Called once, before all others except `onNotice` and `onBug`. */
  readonly onChain?: ((chain: Pick<Chain, 'state'>) => void) | undefined
  readonly onCall?: ((call: ObservedCall) => void) | undefined
  /** The chain's state changed. Called before the reply to the request that changed it. */
  readonly onChange?: ((change: StateChange) => void) | undefined
  /** A request was refused because its `Host` header, given here, is not allowed. */
  readonly onForeignHost?: ((header: string) => void) | undefined
  /** A sentence that the user should read, for example about the forked network. */
  readonly onNotice?: ((text: string) => void) | undefined
  /** Chains on disk (`--state`) cannot be written, a crash cut them off, or a thread ended; when left out, it is a notice. */
  readonly onFailure?: ((text: string) => void) | undefined
  /** A request, or a block of interval mining, has run for two seconds; repeated at growing intervals. */
  readonly onRunning?: ((running: ProgressReport) => void) | undefined
  /** Artifacts of the user's project were read, or could not be. */
  readonly onArtifacts?: ((event: ProjectEvent) => void) | undefined
  /** The user's project is known from now on. */
  readonly onProject?: ((project: Project) => void) | undefined
  /** A peer connected, disconnected or was refused. */
  readonly onPeer?: ((event: PeerEvent) => void) | undefined
  readonly ofChain?: ((name: string) => Observer) | undefined
  /** The log of chains in other threads; undefined: there is none. */
  readonly inThreads?: ThreadLog | undefined
  /** The chain of a path ended; devchain may go on. */
  readonly onEnd?: (() => void) | undefined
  /** The newest lines of a chain's log, at most 20; undefined: there is no log. */
  readonly messages?: (() => readonly string[]) | undefined
  /** A bug: the caller got "internal error". Printed to standard error when left out. */
  readonly onBug?: ((error: unknown) => void) | undefined
}

/**
 * The observer of one chain, which gets events only while logging is on; artifact events always.
 * @param name of the chain; undefined: the first, whose observer is the program's
 */
export function observerOf(
  own: Observer,
  name: string | undefined,
  logging: Readonly<MethodContext['logging']>,
): Observer {
  const observer = name === undefined ? own : (own.ofChain?.(name) ?? {})
  const muted = <T>(listener: ((event: T) => void) | undefined): ((event: T) => void) | undefined =>
    listener && ((event) => (logging.isEnabled ? listener(event) : undefined))
  return {
    ...observer,
    onCall: muted(observer.onCall),
    onChange: muted(observer.onChange),
    onForeignHost: muted(observer.onForeignHost),
    onNotice: muted(observer.onNotice),
    onPeer: muted(observer.onPeer),
    onRunning: muted(observer.onRunning),
  }
}

/** Passes a call on with its console lines and notes, and empties both lists for the next call of the batch. */
export function observing(
  onCall: (call: ObservedCall) => void,
): NonNullable<RequestWatch['observe']> {
  return (call, context, details) => {
    const { printed, runs, notes, isOwn } = context
    if (isOwn) return
    const { method, description, thrown } = details
    const lines = printed.splice(0)
    const remarks = [...call.notes, ...notes.splice(0)]
    if (thrown instanceof ExecutionError) lines.push(...thrown.printed)
    const refusal = thrown instanceof DevchainError ? thrown : undefined
    const [rerun] = runs.splice(0)
    const { method: name, params, durationMs, result, error } = call
    // listed one by one: this runs for every request, and V8 is slow to spread an object
    onCall({
      method: name,
      params,
      durationMs,
      result,
      error,
      notes: remarks,
      console: lines,
      effects: method?.effects,
      meaning: method?.result,
      description,
      failure: refusal && failureOf(refusal),
      refusal,
      isPageRead: isPageRead(context, details),
      rerun,
    })
  }
}

/** What somebody does with the page is none. */
export function isPageRead(
  { caller }: Pick<MethodContext, 'caller'>,
  { method }: Pick<CallDetails<MethodContext>, 'method'>,
): boolean {
  if (caller.session?.isPage !== true || method === undefined) return false
  return method.effects === 'nothing' || /^eth_(un)?subscribe$/.test(method.name)
}
