// Schemas: how a JSON value of the wire becomes a value of the domain, and back, and how it is described.

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

/** Reads a value of the wire. */
export interface Decoder<T> {
  /** Short name for tables and messages: "address", "block". */
  readonly name: string
  readonly json: JsonSchema
  /**
   * @param path where the value stands in the request, for the message: `params[0].from`.
   * @throws {DevchainError} `INVALID_PARAMS` naming the path, the value and what was expected.
   */
  readonly decode: (value: unknown, path: string) => T
}

/** Writes a value of the domain. */
export interface Encoder<T> {
  readonly name: string
  readonly json: JsonSchema
  readonly encode: (value: T) => Json
  /** What writes the JSON of `encode`'s value as bytes, where so much is written that making the value first takes long. */
  readonly write?: (value: T) => (() => Buffer) | undefined
}

export interface Schema<T> extends Decoder<T>, Encoder<T> {}
