// Schemas: how a JSON value of the wire becomes a value of the domain, and back, and how it is described.
import { DevchainError, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** A JSON Schema (2020-12 core), as OpenRPC wants it. */
export interface JsonSchema {
  readonly [key: string]: Json | undefined
}

/** Remarks on the parameters of one call, which its caller is not told: sentences for the log. */
export type Notes = string[]

/** A call has at most so many remarks; one more says that there were more. */
const NOTES_LIMIT = 8

/** Adds a remark, unless the same was made already. */
export function remark(notes: Notes, text: string): void {
  if (notes.length > NOTES_LIMIT || notes.includes(text)) return
  notes.push(notes.length < NOTES_LIMIT ? text : 'there is more of the kind, which is not shown')
}

/**
 * Says which member an unknown one was probably meant to be; nothing when it is like none, or too short to tell.
 * @param path where the object stands in the request
 */
export function remarkMisspelling(
  notes: Notes | undefined,
  path: string,
  key: string,
  known: readonly string[],
): void {
  if (notes === undefined || key.length < 3) return
  const meant = nearest(key, known, key.length < 6 ? 1 : 2)
  if (meant === undefined) return
  remark(notes, `${path}: the member ${printValue(key)} is ignored; did you mean ${meant}?`)
}

/** The error of a value that is not what was expected. @param path where it stands in the request */
export function invalid(path: string, expected: string, value: unknown): DevchainError {
  const message = `${path}: expected ${expected}, got ${printValue(value)}`
  return new DevchainError('INVALID_PARAMS', message)
}

/** Reads a value of the wire. */
export interface Decoder<T> {
  /** Short name for tables and messages: "address", "block". */
  readonly name: string
  readonly json: JsonSchema
  /** What a value is the name of: on a fork that may be its network's. */
  readonly names?: 'block' | 'transaction'
  /**
   * @param path where the value stands in the request, for the message: `params[0].from`.
   * @param notes takes remarks on what was sent, for the log; a decoder of parts hands it on to them.
   * @throws {DevchainError} `INVALID_PARAMS` naming the path, the value and what was expected.
   */
  readonly decode: (value: unknown, path: string, notes?: Notes) => T
}

/** What a value is to a person, where its form does not say it. */
export interface Meaning {
  readonly unit?: 'wei' | 'wei per gas' | 'gas' | 'bytes' | 'return data'
  /** What a list has items of; what is not there where a boolean is false. */
  readonly noun?: string
}

/** Writes a value of the domain. */
export interface Encoder<T> extends Meaning {
  readonly name: string
  readonly json: JsonSchema
  readonly encode: (value: T) => Json
}

export interface Schema<T> extends Decoder<T>, Encoder<T> {}

/** True for a decoder that writes what it reads, too. */
export function isSchema<T>(decoder: Decoder<T>): decoder is Schema<T> {
  return 'encode' in decoder
}
