// Who watches a chain: what it is told of, and how a call is told.
import { DevchainError, ExecutionError } from '../core/errors.ts'
import type { ProgressReport } from '../core/progress.ts'
import type { MethodContext, RequestWatch } from '../methods/common/context.ts'
import { type FailedExecution, failureOf } from '../methods/compat/failure.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Again } from '../node/chain/failedrun.ts'
import type { StateChange } from '../node/ledger/change.ts'
import type { PeerEvent } from '../node/peers.ts'
import type { ProjectEvent } from '../project/events.ts'
import type { Names } from '../project/naming/names.ts'
import type { Effects } from '../rpc/method.ts'
import type { CallReport } from '../rpc/report.ts'
import type { Meaning } from '../rpc/schema.ts'

export type CallFailure = Pick<FailedExecution, 'reason' | 'data' | 'hash'>

export type CallRefusal = Pick<DevchainError, 'word' | 'facts'>

/** A call, with the console lines of contracts that ran for it alone, without a transaction. */
export interface ObservedCall extends CallReport {
  readonly console: readonly string[]
  /** What its method changes; undefined where there is none. */
  readonly effects?: Effects | undefined
  /** What its result is, where the form does not say it. */
  readonly meaning?: Meaning | undefined
  /** What it did, in a phrase, where its result does not say it; addresses and hashes in full. */
  readonly told?: string | undefined
  /** How its execution failed, whatever words the caller is told of it. */
  readonly failure?: CallFailure | undefined
  /** Why it was refused, whatever words the caller gets. */
  readonly refusal?: CallRefusal | undefined
  /** How it can be run again, where its calls are to be told. */
  readonly again?: Again | undefined
}

/** What an observer is told of; nothing that it does changes the chain. */
export interface Observer {
  /** The chain is there, as it begins: called once, before all others but `onNotice` and `onBug`. */
  readonly onChain?: ((chain: Pick<Chain, 'state'>) => void) | undefined
  readonly onCall?: ((call: ObservedCall) => void) | undefined
  /** The chain's state changed; told before the request that changed it is answered. */
  readonly onChange?: ((change: StateChange) => void) | undefined
  /** A request was refused, as it names a `Host` that is not allowed: the header. */
  readonly onForeignHost?: ((header: string) => void) | undefined
  /** Something that a user should know, such as of the network that is forked: a sentence. */
  readonly onNotice?: ((text: string) => void) | undefined
  /** A request, or a block of interval mining, has run for two seconds; told again at growing intervals. */
  readonly onRunning?: ((running: ProgressReport) => void) | undefined
  /** Artifacts of the user's project were read, or could not be. */
  readonly onArtifacts?: ((event: ProjectEvent) => void) | undefined
  /** The names of the user's project are known from now on. */
  readonly onNames?: ((names: Names) => void) | undefined
  /** A peer came or went, or was refused. */
  readonly onPeer?: ((event: PeerEvent) => void) | undefined
  /** Makes the observer of a chain that has a name: what it is told of is that chain's. */
  readonly ofChain?: ((name: string) => Observer) | undefined
  /** Something here is broken: the caller was told "internal error". Standard error when left out. */
  readonly onBug?: ((error: unknown) => void) | undefined
}

/**
 * The observer of one chain, told of what happens only while logging is on. Of artifacts it is always told.
 * @param name of the chain; undefined: the first, whose observer is the program's
 */
export function observerOf(
  own: Observer,
  name: string | undefined,
  logging: Readonly<MethodContext['logging']>,
): Observer {
  const observer = name === undefined ? own : (own.ofChain?.(name) ?? {})
  const muted = <T>(tell: ((event: T) => void) | undefined): ((event: T) => void) | undefined =>
    tell && ((event) => (logging.isEnabled ? tell(event) : undefined))
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

/** Hands a call on with what was printed and remarked for it, and empties the lists for the next call of the same batch. */
export function observing(
  onCall: (call: ObservedCall) => void,
): NonNullable<RequestWatch['observe']> {
  return (call, { printed, runs, notes, isOwn }, { method, told, thrown }) => {
    if (isOwn) return
    const lines = printed.splice(0)
    const remarks = [...call.notes, ...notes.splice(0)]
    if (thrown instanceof ExecutionError) lines.push(...thrown.printed)
    const refusal = thrown instanceof DevchainError ? thrown : undefined
    const [again] = runs.splice(0)
    const { method: name, params, durationMs, result, error } = call
    // each member by its name: one is made for every request, and V8 takes long to spread an object
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
      told,
      failure: refusal && failureOf(refusal),
      refusal,
      again,
    })
  }
}
