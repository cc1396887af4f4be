// Schemas: decode a JSON value to a domain value, encode it back, and describe it.
import { printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'

export { invalid } from '../core/errors.ts'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** JSON Schema (2020-12 core), as OpenRPC requires. */
export interface JsonSchema {
  readonly [key: string]: Json | undefined
}

/** Notes on one call's parameters: sentences for the log, not for the caller. */
export type Notes = string[]

/** Notes per call; one more says that there were more. */
const NOTES_LIMIT = 8

/** Adds a note unless it is there already. */
export function remark(notes: Notes, text: string): void {
  if (notes.length > NOTES_LIMIT || notes.includes(text)) return
  notes.push(notes.length < NOTES_LIMIT ? text : 'there is more of the kind, which is not shown')
}

/**
 * Suggests the known member nearest to an unknown one; nothing if none is similar or the name is too short.
 * @param path of the object in the request
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

export interface Decoder<T> {
  /** Short name for tables and messages: "address", "block". */
  readonly name: string
  readonly json: JsonSchema
  /** A value that a request may have; for documentation. */
  readonly example?: Json
  /** What the value names: on a fork, that may be the network's. */
  readonly names?: 'block' | 'transaction'
  /**
   * @param path of the value in the request, for the message: `params[0].from`
   * @param notes collects notes for the log; a composite decoder passes them on
   * @throws {DevchainError} `INVALID_PARAMS` naming the path, the value and what was expected
   */
  readonly decode: (value: unknown, path: string, notes?: Notes) => T
}

/** How to describe a value to a person, if its form does not show it. */
export interface Meaning {
  readonly unit?: 'wei' | 'wei per gas' | 'gas' | 'bytes' | 'return data'
  /** What a list counts, or what a boolean false says is missing. */
  readonly noun?: string
}

export interface Encoder<T> extends Meaning {
  readonly name: string
  readonly json: JsonSchema
  readonly encode: (value: T) => Json
}

export interface Schema<T> extends Decoder<T>, Encoder<T> {}

export function isSchema<T>(decoder: Decoder<T>): decoder is Schema<T> {
  return 'encode' in decoder
}
