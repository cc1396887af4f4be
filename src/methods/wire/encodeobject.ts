// Declares objects of replies member by member; their encoding and schema derive from one list.
import { quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import { data, hash, list, text } from '../../rpc/primitives.ts'
import type { Encoder, Json, JsonSchema } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'

/** A QUANTITY: 0x and hex without leading zeros; stricter than in requests. */
export const quantityResult: Encoder<bigint | number> = {
  name: 'quantity',
  json: { title: 'quantity', type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,63})$' },
  encode: quantityFromBigint,
}

/** Amounts and gas prices in wei, and gas. */
export const wei: Encoder<bigint> = { ...quantityResult, unit: 'wei' }
export const weiPerGas: Encoder<bigint> = { ...quantityResult, unit: 'wei per gas' }
export const gasAmount: Encoder<bigint> = { ...quantityResult, unit: 'gas' }

/** A word, such as a storage slot or its value. */
export const bytes32: Encoder<bigint> = encodedAs(hash, wordFromBigint)

/** A JSON integer, in the few replies without QUANTITYs. */
export const plainInteger: Encoder<bigint | number> = {
  name: 'integer',
  json: { type: 'integer' },
  encode: Number,
}

export interface ShapeField<T> {
  readonly json: JsonSchema
  readonly required: boolean
  /** Undefined omits the member. */
  readonly encode: (value: T) => Json | undefined
}

export function field<T, V>(encoder: Encoder<V>, get: (value: T) => V): ShapeField<T> {
  return { json: encoder.json, required: true, encode: (value) => encoder.encode(get(value)) }
}

type Plain = Readonly<Record<string, Encoder<never>>>

type Values<M extends Plain> = {
  readonly [K in keyof M]: M[K] extends Encoder<infer V> ? V : never
}

/** Members that are the value's properties of the same names. */
export function plain<M extends Plain>(
  members: M,
): Readonly<Record<keyof M, ShapeField<Values<M>>>> {
  const fields = Object.entries(members).map(([name, encoder]) => [
    name,
    field(encoder, (value: Readonly<Record<string, never>>) => value[name]!),
  ])
  return Object.fromEntries(fields)
}

/** A shape of such members only. */
export function plainShape<M extends Plain>(name: string, members: M): Encoder<Values<M>> {
  return shape<Values<M>>(name, plain(members))
}

/** A value with omitted members. */
export interface Shortened {
  /** Names of members. */
  readonly without?: readonly string[] | undefined
}

/** Omits the member if `get` returns undefined, or if the value omits it. */
export function fieldUnless<T extends Shortened, V>(
  name: string,
  encoder: Encoder<V>,
  get: (value: T) => V | undefined,
): ShapeField<T> {
  return fieldIfAny(encoder, (value) =>
    value.without?.includes(name) === true ? undefined : get(value),
  )
}

/** Omits the member if `get` returns undefined. */
export function fieldIfAny<T, V>(
  encoder: Encoder<V>,
  get: (value: T) => V | undefined,
): ShapeField<T> {
  const encode = (value: T): Json | undefined => {
    const part = get(value)
    return part === undefined ? undefined : encoder.encode(part)
  }
  return { json: encoder.json, required: false, encode }
}

/** The reason and Solidity stack of a failed execution, if known. */
export const stackField: ShapeField<{ readonly solidityStack?: readonly string[] | undefined }> =
  fieldIfAny(list(text), ({ solidityStack }) => solidityStack)

/** Lifts a part's members into the whole. */
export function reached<T, V>(
  fields: Readonly<Record<string, ShapeField<V>>>,
  part: (whole: T) => V,
): Readonly<Record<string, ShapeField<T>>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { json, required, encode }]) => [
      name,
      { json, required, encode: (whole: T) => encode(part(whole)) },
    ]),
  )
}

/** Exactly these members, in this order. */
export function shape<T>(
  name: string,
  fields: Readonly<Record<string, ShapeField<T>>>,
): Encoder<T> {
  const entries = Object.entries(fields)
  return {
    name,
    json: {
      title: name,
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, { json }]) => [key, json])),
      required: entries.filter(([, { required }]) => required).map(([key]) => key),
      additionalProperties: false,
    },
    encode: (value) => {
      const object: Record<string, Json> = {}
      for (const [key, { encode }] of entries) {
        const part = encode(value)
        if (part !== undefined) object[key] = part
      }
      return object
    },
  }
}

/** An object with data as keys. */
export function mapOf<V>(name: string, member: Encoder<V>): Encoder<ReadonlyMap<string, V>> {
  return {
    name,
    json: { title: name, type: 'object', additionalProperties: member.json },
    encode: (values) =>
      Object.fromEntries([...values].map(([key, value]) => [key, member.encode(value)])),
  }
}

export function encodedAs<T, V>(encoder: Encoder<V>, convert: (value: T) => V): Encoder<T> {
  return {
    name: encoder.name,
    json: encoder.json,
    encode: (value) => encoder.encode(convert(value)),
  }
}

/** As in reth. */
export const accountInfo: Encoder<Account> = plainShape('account info', {
  balance: quantityResult,
  nonce: quantityResult,
  code: data,
})
