// Decodes objects in requests: transactions, overrides, filters.
import { MAX_UINT64 } from '../../core/bigints.ts'
import { invalidParams } from '../../core/errors.ts'
import { list, quantity } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Notes, remarkMisspelling } from '../../rpc/schema.ts'

export type Decoded<M extends Readonly<Record<string, Decoder<unknown>>>> = {
  readonly [K in keyof M]?: M[K] extends Decoder<infer T> ? T | undefined : never
}

/**
 * An object of optional members. Unknown members are ignored, as clients send many; the log notes a probable
 * misspelling. `ignored` members never cause a note.
 */
export function members<M extends Readonly<Record<string, Decoder<unknown>>>>(
  name: string,
  known: M,
  ignored: readonly string[] = [],
): Decoder<Decoded<M>> {
  const decoders = new Map(Object.entries(known))
  const properties = [...decoders].map(([key, { json }]) => [key, json])
  return {
    name,
    json: { title: name, type: 'object', properties: Object.fromEntries(properties) },
    decode: (value, path, notes) => {
      const decoded: Record<string, unknown> = {}
      for (const [key, part] of entriesOf(value, path, name)) {
        const member = decoders.get(key)
        if (member === undefined) {
          if (notes !== undefined && !ignored.includes(key)) {
            remarkMisspelling(notes, path, key, [...decoders.keys()])
          }
        } else if (part !== null && part !== undefined) {
          decoded[key] = member.decode(part, `${path}.${key}`, notes)
        }
      }
      return decoded as Decoded<M>
    },
  }
}

/** One of two forms. */
export function either<A, B>(
  name: string,
  isFirst: (value: unknown) => boolean,
  first: Decoder<A>,
  second: Decoder<B>,
): Decoder<A | B> {
  return {
    name,
    json: { anyOf: [first.json, second.json] },
    decode: (value, path, notes) => (isFirst(value) ? first : second).decode(value, path, notes),
  }
}

/** A list of exactly two values. */
export function pair<A, B>(
  name: string,
  first: Decoder<A>,
  second: Decoder<B>,
): Decoder<readonly [A, B]> {
  return {
    name,
    json: { type: 'array', prefixItems: [first.json, second.json], minItems: 2, maxItems: 2 },
    decode: (value, path, notes) => {
      if (!Array.isArray(value) || value.length !== 2) throw invalid(path, `a pair ${name}`, value)
      const [one, other] = value
      return [first.decode(one, `${path}[0]`, notes), second.decode(other, `${path}[1]`, notes)]
    },
  }
}

export const uint64: Decoder<bigint> = refined(quantity, (number, path) => {
  if (number <= MAX_UINT64) return number
  throw invalid(path, 'a quantity below 2^64', number)
})

export function oneOrMore<T>(one: Decoder<T>): Decoder<readonly T[]> {
  const single = refined(one, (value) => [value])
  return either(`${one.name} or list`, Array.isArray, list(one), single)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function refined<T, V>(
  decoder: Decoder<T>,
  refine: (value: T, path: string, notes?: Notes) => V,
): Decoder<V> {
  return {
    name: decoder.name,
    json: decoder.json,
    decode: (value, path, notes) => refine(decoder.decode(value, path, notes), path, notes),
  }
}

/** An object with data as keys; only the size of the request limits it. */
export function keyed<K, T>(
  name: string,
  key: Decoder<K>,
  member: Decoder<T>,
): Decoder<ReadonlyMap<K, T>> {
  return {
    name,
    json: { title: name, type: 'object', additionalProperties: member.json },
    decode: (value, path, notes) =>
      new Map(
        entriesOf(value, path, name).map(([text, part]) => {
          const decoded = member.decode(part, `${path}.${text}`, notes)
          return [key.decode(text, `${path}.${text}`), decoded]
        }),
      ),
  }
}

function entriesOf(value: unknown, path: string, name: string): readonly [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(path, `an object (${name})`, value)
  }
  return Object.entries(value)
}

/** Two names of one member: if both are given, they must agree. */
export function same<T>(
  one: T | undefined,
  other: T | undefined,
  equal: (a: T, b: T) => boolean,
  names: string,
): T | undefined {
  if (one !== undefined && other !== undefined && !equal(one, other)) {
    throw invalidParams(`${names} differ: expected one of them, or both equal`)
  }
  return one ?? other
}

export function required<T>(value: T | undefined, path: string, expected: string): T {
  if (value !== undefined) return value
  throw invalidParams(`${path}: expected ${expected}, got nothing`)
}
