// A method is one declaration; dispatch, discovery, the table of methods and tests derive from it.
import { invalidParams } from '../core/errors.ts'
import { type MaybePromise, whenThere } from '../core/promises.ts'
import { JsonText } from './jsontext.ts'
import type { Decoder, Encoder, Json, Notes } from './schema.ts'
import { discreet } from './scrub.ts'

/** If left out or null, an optional parameter has the value of `fallback`. */
export interface Param<T> {
  readonly name: string
  readonly decoder: Decoder<T>
  readonly required: boolean
  readonly fallback: T | undefined
  /** True: a key or passphrase, shown only to the handler. */
  readonly isSecret: boolean
}

/**
 * What a method changes: nothing, so that it may be repeated; node state outside the chain, such as filters, subscriptions,
 * links and names; the chain with its pool, accounts and settings; or the chain in a way of its own: by a transaction
 * whose hash it returns, by going back to a snapshot, or by going back to genesis.
 */
export type Effects = 'nothing' | 'node' | 'chain' | 'transaction' | 'revert' | 'reset'

export function changesChain({ effects }: { readonly effects?: Effects | undefined }): boolean {
  return effects !== undefined && effects !== 'nothing' && effects !== 'node'
}

/** Where a fork runs a request. Each word has its row in `fork/boundary/passon.ts`. */
export type OnFork =
  /** Runs here and fetches missing state. */
  | 'here'
  /** Forwarded if the block or transaction in its parameters is the network's. So are the next nine. */
  | 'network'
  /** The result has the block's number. */
  | 'placed'
  /** As `placed`; derived from the block if the network lacks the method. */
  | 'header'
  /** State after the block; for the fork block, only the network's while nothing has changed. */
  | 'state'
  /** As `state`, with slots named as in the request. */
  | 'proof'
  /** Asked by the names of other nodes too. */
  | 'accessList'
  /** The block is a JSON number. */
  | 'page'
  /** Re-executes the block's transactions here if the network refuses. */
  | 'replay'
  /** Always runs here with the block's transactions: other nodes lack the method. */
  | 'own'
  /** Encoded here if the network refuses. */
  | 'rawBlock'
  | 'rawHeader'
  | 'rawReceipts'
  | 'rawTransactions'
  /** Each combines local and remote data in its own way. */
  | 'account'
  | 'call'
  | 'chainTraces'
  | 'code'
  | 'creator'
  | 'encodedBlock'
  | 'feeHistory'
  | 'filterChanges'
  | 'filterLogs'
  | 'frames'
  | 'logs'
  | 'modifiedAccounts'
  | 'searchAfter'
  | 'searchBefore'
  | 'sent'
  | 'slot'

/** Shown in discovery; `result` is left out if it differs between runs. */
export interface Example {
  readonly params: readonly Json[]
  readonly result?: Json
}

/** A method as the dispatcher sees it; `C` is the handler's context. */
export interface Method<C> {
  readonly name: string
  readonly aliases: readonly string[]
  /** One sentence, for tables. */
  readonly summary: string
  readonly params: readonly Param<unknown>[]
  readonly result: Encoder<never>
  readonly example: Example
  /** Set for unsupported methods: the reason in the error. */
  readonly unsupported: string | undefined
  readonly effects: Effects
  /** Required for every method with a block or transaction hash parameter; `here` when undefined. */
  readonly onFork: OnFork | undefined
  /** True if a parameter or the result is secret. */
  readonly hasSecrets: boolean
  /** True: the result is a key, shown only to the caller. */
  readonly isResultSecret: boolean
  /** Describes what a call did, as a phrase, if the result does not show it. `params` are those passed to `run`. */
  readonly describe:
    | ((params: readonly unknown[], result: Json, context: C) => string | undefined)
    | undefined
  /**
   * Decodes `params`, runs the handler, encodes its result; synchronous unless the handler waits.
   * @param notes collects notes on the parameters, for the log
   */
  readonly run: (
    context: C,
    params: readonly unknown[],
    notes?: Notes,
  ) => MaybePromise<Json | JsonText>
}

export type Values<P extends readonly Param<unknown>[]> = {
  -readonly [I in keyof P]: P[I] extends Param<infer T> ? T : never
}

/** Left out: no aliases and no effects. */
export interface Declaration<C, P extends readonly Param<unknown>[], R>
  extends Pick<Method<C>, 'name' | 'summary'>,
    Partial<Pick<Method<C>, 'aliases' | 'effects' | 'onFork' | 'isResultSecret'>> {
  /** None when left out. */
  readonly params?: P
  readonly result: Encoder<R>
  /** Parameters that are left out have the examples of their decoders, up to the first that has none. */
  readonly example?: Partial<Example>
  /**
   * Describes for the log what a call did, if its result does not show it: `balance of 0x… 5 ether`. Addresses and
   * hashes are in full; undefined if the result shows it after all.
   */
  readonly describe?: (values: Values<P>, result: Json, context: C) => string | undefined
  /** Returns the value, or its JSON if it may be too large for a value. */
  readonly handle: (context: C, ...values: Values<P>) => MaybePromise<R | JsonText>
}

export function param<T>(name: string, decoder: Decoder<T>): Param<T> {
  return { name, decoder, required: true, fallback: undefined, isSecret: false }
}

/** May also be null. */
export function optional<T>(name: string, decoder: Decoder<T>): Param<T | undefined>
export function optional<T>(name: string, decoder: Decoder<T>, fallback: T): Param<T>
export function optional<T>(name: string, decoder: Decoder<T>, fallback?: T): Param<T | undefined> {
  return { name, decoder, required: false, fallback, isSecret: false }
}

export function secret<T>(parameter: Param<T>): Param<T> {
  return { ...parameter, decoder: discreet(parameter.decoder), isSecret: true }
}

export function defineMethod<
  C,
  const P extends readonly Param<unknown>[] = readonly [],
  R = unknown,
>(declaration: Declaration<C, P, R>): Method<C> {
  const { name, aliases = [], summary, params = [], result, handle } = declaration
  const { effects = 'nothing', onFork, isResultSecret = false, describe } = declaration
  const encode = (value: R | JsonText): Json | JsonText =>
    value instanceof JsonText ? value : result.encode(value)
  return {
    name,
    aliases,
    summary,
    params,
    result: result as Encoder<never>,
    example: { params: examplesOf(params), ...declaration.example },
    unsupported: undefined,
    effects,
    onFork,
    hasSecrets: isResultSecret || params.some(({ isSecret }) => isSecret),
    isResultSecret,
    describe:
      describe &&
      ((given, written, context) =>
        describe(decodeParams(name, params, given, undefined) as Values<P>, written, context)),
    run: (context, given, notes) => {
      const values = decodeParams(name, params, given, notes) as Values<P>
      return whenThere(handle(context, ...values) as MaybePromise<R | JsonText>, encode)
    },
  }
}

function examplesOf(params: readonly Param<unknown>[]): readonly Json[] {
  const examples = params.map(({ decoder }) => decoder.example)
  const end = examples.indexOf(undefined)
  return (end < 0 ? examples : examples.slice(0, end)) as readonly Json[]
}

/** @throws {DevchainError} `INVALID_PARAMS` for a missing, surplus or invalid parameter */
function decodeParams(
  method: string,
  params: readonly Param<unknown>[],
  given: readonly unknown[],
  notes: Notes | undefined,
): unknown[] {
  if (given.length > params.length) {
    const names = params.map(({ name }) => name).join(', ')
    const taken = names === '' ? 'no parameters' : `at most ${params.length} (${names})`
    throw invalidParams(`${method} takes ${taken}, got ${given.length}`)
  }
  return params.map(({ name, decoder, required, fallback }, i) => {
    const value = given[i]
    const isMissing = value === undefined || value === null
    if (!isMissing) return decoder.decode(value, name, notes)
    if (!required) return fallback
    const message = `${method}: parameter ${i + 1} (${name}) is missing: expected ${decoder.name}`
    throw invalidParams(message)
  })
}
