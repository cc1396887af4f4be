// A method is one declaration; dispatch, discovery, the README's table and the tests are derived from it.
import type { Decoder, Encoder, Json } from './schema.ts'

/** A parameter. Left out or null, an optional one has the value of `fallback`. */
export interface Param<T> {
  readonly name: string
  readonly decoder: Decoder<T>
  readonly required: boolean
  readonly fallback: T | undefined
}

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
  /** Set for the methods that the specification calls unsupported: the reason that callers are told. */
  readonly unsupported: string | undefined
  /** Decodes `params`, runs the handler, encodes its result. */
  readonly run: (context: C, params: readonly unknown[]) => Promise<Json>
}

type Values<P extends readonly Param<unknown>[]> = {
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
  readonly handle: (context: C, ...values: Values<P>) => R | Promise<R>
}

/** A parameter that must be given. */
export function param<T>(name: string, decoder: Decoder<T>): Param<T> {
  return { name, decoder, required: true, fallback: undefined }
}

/** A parameter that may be left out, or be null. */
export function optional<T>(name: string, decoder: Decoder<T>): Param<T | undefined>
export function optional<T>(name: string, decoder: Decoder<T>, fallback: T): Param<T>
export function optional<T>(name: string, decoder: Decoder<T>, fallback?: T): Param<T | undefined> {
  return { name, decoder, required: false, fallback }
}

/** Makes a method of a declaration. */
export function defineMethod<C, const P extends readonly Param<unknown>[], R>(
  _declaration: Declaration<C, P, R>,
): Method<C> {
  throw new Error('to be written')
}
