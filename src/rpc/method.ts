// A method is one declaration; dispatch, discovery, the table in its page and the tests are derived from it.
import { DevchainError } from '../core/errors.ts'
import { type MaybePromise, whenThere } from '../core/promises.ts'
import { JsonText } from './jsontext.ts'
import type { Decoder, Encoder, Json, Notes } from './schema.ts'
import { discreet } from './scrub.ts'

/** A parameter. Left out or null, an optional one has the value of `fallback`. */
export interface Param<T> {
  readonly name: string
  readonly decoder: Decoder<T>
  readonly required: boolean
  readonly fallback: T | undefined
  /** True: a key or a passphrase, which nobody is shown but the handler. */
  readonly isSecret: boolean
}

/**
 * What a method changes: nothing, so that it may be repeated; something that the node has besides the chain, such as filters,
 * subscriptions, links and names; the chain with its pool, accounts and settings; or that by a transaction, whose hash it answers.
 */
export type Effects = 'nothing' | 'node' | 'chain' | 'transaction'

/** True for a method that may change the chain. */
export function changesChain({ effects }: { readonly effects?: Effects | undefined }): boolean {
  return effects === 'chain' || effects === 'transaction'
}

/** What a fork does with a request that may be about its network. Each word has its row in `fork/boundary/passon.ts`. */
export type OnFork =
  /** Answers it here, and fetches the state that is missing. */
  | 'here'
  /** Asks the network where the block, or the transaction, that a parameter names is the network's. The next nine do so too. */
  | 'network'
  /** The answer has the number of the block. */
  | 'placed'
  /** As `placed`, and out of the block where the network has no such method. */
  | 'header'
  /** The state after the block: that of the fork's own is the network's only while nothing was changed. */
  | 'state'
  /** As `state`, with slots named as they were asked for. */
  | 'proof'
  /** The block is named by a number of JSON. */
  | 'page'
  /** Runs the block's transactions again here where the network refuses. */
  | 'replay'
  /** Always answered here, with the block's transactions, as other nodes have no such method. */
  | 'own'
  /** Encoded here where the network refuses. */
  | 'rawBlock'
  | 'rawHeader'
  | 'rawReceipts'
  | 'rawTransactions'
  /** Each put together in its own way of what is known here and there. */
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

/** A request and the reply to it, shown in discovery; `result` is left out where it differs on each run. */
export interface Example {
  readonly params: readonly Json[]
  readonly result?: Json
}

/** A method as the dispatcher sees it. `C` is what handlers are given besides their parameters. */
export interface Method<C> {
  readonly name: string
  readonly aliases: readonly string[]
  /** One sentence, for tables. */
  readonly summary: string
  readonly params: readonly Param<unknown>[]
  readonly result: Encoder<never>
  readonly example: Example
  /** Set for methods that are not supported: the reason that the error gives. */
  readonly unsupported: string | undefined
  readonly effects: Effects
  /** `here` when undefined. */
  readonly onFork: OnFork | undefined
  /** True when a parameter or the result is a secret. */
  readonly hasSecrets: boolean
  /** True when the result is a secret. */
  readonly isResultSecret: boolean
  /** What a call did, in a phrase, where the result does not say it. `params` were taken by `run` before. */
  readonly tell:
    | ((params: readonly unknown[], result: Json, context: C) => string | undefined)
    | undefined
  /**
   * Decodes `params`, runs the handler, encodes its result: at once, unless the handler has to wait.
   * @param notes takes remarks on the parameters, for the log
   */
  readonly run: (
    context: C,
    params: readonly unknown[],
    notes?: Notes,
  ) => MaybePromise<Json | JsonText>
}

/** What the parameters of a declaration decode to. */
export type Values<P extends readonly Param<unknown>[]> = {
  -readonly [I in keyof P]: P[I] extends Param<infer T> ? T : never
}

/** What a declaration says. */
export interface Declaration<C, P extends readonly Param<unknown>[], R> {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly params: P
  readonly result: Encoder<R>
  readonly example: Example
  /** `nothing` when left out. */
  readonly effects?: Effects
  /** To be said of every method that takes a block or the hash of a transaction. */
  readonly onFork?: OnFork
  /** True: the result is a key, which nobody is shown but the caller. */
  readonly isResultSecret?: boolean
  /**
   * What a call did, in a phrase for the log, where its result does not say it: `balance of 0x… 5 ether`. Addresses and
   * hashes stand in full; undefined where the result says it after all.
   */
  readonly tell?: (values: Values<P>, result: Json, context: C) => string | undefined
  /** Gives the value, or the JSON of it where it may be too large for a value. */
  readonly handle: (context: C, ...values: Values<P>) => MaybePromise<R | JsonText>
}

/** A parameter that must be given. */
export function param<T>(name: string, decoder: Decoder<T>): Param<T> {
  return { name, decoder, required: true, fallback: undefined, isSecret: false }
}

/** A parameter that may be left out, or be null. */
export function optional<T>(name: string, decoder: Decoder<T>): Param<T | undefined>
export function optional<T>(name: string, decoder: Decoder<T>, fallback: T): Param<T>
export function optional<T>(name: string, decoder: Decoder<T>, fallback?: T): Param<T | undefined> {
  return { name, decoder, required: false, fallback, isSecret: false }
}

/** The parameter, as one that neither logs nor errors show. */
export function secret<T>(parameter: Param<T>): Param<T> {
  return { ...parameter, decoder: discreet(parameter.decoder), isSecret: true }
}

/** Makes a method of a declaration. */
export function defineMethod<C, const P extends readonly Param<unknown>[], R>(
  declaration: Declaration<C, P, R>,
): Method<C> {
  const { name, aliases = [], summary, params, result, example, handle } = declaration
  const { effects = 'nothing', onFork, isResultSecret = false, tell } = declaration
  const encode = (value: R | JsonText): Json | JsonText =>
    value instanceof JsonText ? value : result.encode(value)
  return {
    name,
    aliases,
    summary,
    params,
    result: result as Encoder<never>,
    example,
    unsupported: undefined,
    effects,
    onFork,
    hasSecrets: isResultSecret || params.some(({ isSecret }) => isSecret),
    isResultSecret,
    tell:
      tell &&
      ((given, told, context) =>
        tell(decodeParams(name, params, given, undefined) as Values<P>, told, context)),
    run: (context, given, notes) => {
      const values = decodeParams(name, params, given, notes) as Values<P>
      return whenThere(handle(context, ...values) as MaybePromise<R | JsonText>, encode)
    },
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a parameter that is missing, surplus, or not what it must be. */
function decodeParams(
  method: string,
  params: readonly Param<unknown>[],
  given: readonly unknown[],
  notes: Notes | undefined,
): unknown[] {
  if (given.length > params.length) {
    const names = params.length === 0 ? '' : ` (${params.map(({ name }) => name).join(', ')})`
    throw new DevchainError(
      'INVALID_PARAMS',
      `${method} takes ${params.length === 0 ? 'no parameters' : `at most ${params.length}${names}`}, got ${given.length}`,
    )
  }
  return params.map(({ name, decoder, required, fallback }, i) => {
    const value = given[i]
    const isMissing = value === undefined || value === null
    if (!isMissing) return decoder.decode(value, name, notes)
    if (!required) return fallback
    throw new DevchainError(
      'INVALID_PARAMS',
      `${method}: parameter ${i + 1} (${name}) is missing: expected ${decoder.name}`,
    )
  })
}
