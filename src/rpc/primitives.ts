// Basic schemas, from which all others are composed: each kind of value on the wire.
import {
  type Address,
  type Hash,
  hexFromBytes,
  parseBytes,
  quantityFromBigint,
} from '../core/hex.ts'
import {
  type Decoder,
  type Encoder,
  invalid,
  type Json,
  type JsonSchema,
  type Schema,
} from './schema.ts'

const TWO_TO_256 = 2n ** 256n

/** Hex of `size` bytes in any letter case, lower case in replies. The `0x` is optional. */
function fixedHex<T extends string>(name: string, size: number, expected: string): Schema<T> {
  const digits = `[0-9a-fA-F]{${size * 2}}`
  const form = new RegExp(`^(?:0x)?${digits}$`)
  return {
    name,
    json: { title: name, type: 'string', pattern: `^0x${digits}$` },
    decode: (value, path) => {
      if (typeof value !== 'string' || !form.test(value)) throw invalid(path, expected, value)
      return (value.length === size * 2 ? `0x${value}` : value).toLowerCase() as T
    },
    encode: (value) => value,
  }
}

export const address: Schema<Address> = {
  ...fixedHex<Address>('address', 20, 'a 20-byte address'),
  // the first account of the default mnemonic
  example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
}

/** The example is a hash of nothing. */
export const hash: Schema<Hash> = {
  ...fixedHex<Hash>('hash', 32, '32 bytes as 0x and 64 digits'),
  example: `0x${'ab'.repeat(32)}`,
}

export const hashOfBlock: Schema<Hash> = { ...hash, names: 'block' }
export const hashOfTransaction: Schema<Hash> = { ...hash, names: 'transaction' }

/** DATA: bytes of any length. */
export const data: Schema<Uint8Array> = {
  name: 'data',
  unit: 'bytes',
  json: { title: 'data', type: 'string', pattern: '^0x([0-9a-fA-F]{2})*$' },
  decode: (value, path) => {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) {
      throw invalid(path, 'bytes as 0x and pairs of digits', value)
    }
    if (value.length % 2 === 1) throw invalid(path, 'an even number of hex digits', value)
    return parseBytes(value)
  },
  encode: hexFromBytes,
}

/** QUANTITY: 0x-hex, a decimal string or a JSON integer; at most 256 bits. Minimal 0x-hex in replies. */
export const quantity: Schema<bigint> = {
  name: 'quantity',
  json: {
    title: 'quantity',
    anyOf: [
      { type: 'string', pattern: '^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$' },
      { type: 'integer', minimum: 0 },
    ],
  },
  decode: (value, path) => {
    const number = integerOf(value)
    if (number === undefined) {
      const isInexact = typeof value === 'number' && value > Number.MAX_SAFE_INTEGER
      throw invalid(
        path,
        `a quantity ${isInexact ? 'above 2^53 - 1 as text ' : ''}(0x hex or decimal)`,
        value,
      )
    }
    if (number >= TWO_TO_256 || isTooLong(value)) {
      throw invalid(path, 'a quantity of at most 256 bits (64 hex digits)', value)
    }
    return number
  },
  encode: quantityFromBigint,
}

/** A count or index: at most 2^53 - 1. */
export const quantityNumber: Schema<number> = {
  name: 'quantity',
  json: quantity.json,
  decode: (value, path) => {
    const number = quantity.decode(value, path)
    if (number > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw invalid(path, `a quantity of at most ${Number.MAX_SAFE_INTEGER}`, value)
    }
    return Number(number)
  },
  encode: (value) => quantityFromBigint(BigInt(value)),
}

/** As `quantityNumber`, for parameters that other nodes accept only as a JSON number. */
export const jsonNumber: Schema<number> = { ...quantityNumber, encode: (value) => value }

/** Also accepts the words as text, which some clients send. */
export const boolean: Schema<boolean> = {
  name: 'boolean',
  json: { title: 'boolean', type: 'boolean' },
  decode: (value, path) => {
    if (value === true || value === 'true') return true
    if (value === false || value === 'false') return false
    throw invalid(path, 'true or false', value)
  },
  encode: (value) => value,
}

export const text: Schema<string> = {
  name: 'text',
  json: { title: 'text', type: 'string' },
  decode: (value, path) => {
    if (typeof value === 'string') return value
    throw invalid(path, 'text', value)
  },
  encode: (value) => value,
}

/** A result of null. */
export const nothing: Encoder<null> = {
  name: 'null',
  json: { type: 'null' },
  encode: () => null,
}

/** A result that is JSON already. */
export function asJson<T>(name: string, json: JsonSchema): Encoder<T> {
  return { name, json, encode: (value) => value as Json }
}

export function nullable<T>(encoder: Encoder<T>): Encoder<T | null | undefined> {
  return {
    ...encoder,
    name: `${encoder.name} or null`,
    json: { anyOf: [encoder.json, { type: 'null' }] },
    encode: (value) => (value === null || value === undefined ? null : encoder.encode(value)),
  }
}

/** @param noun what a log counts */
export function list<T>(schema: Schema<T>, noun?: string): Schema<readonly T[]>
export function list<T>(decoder: Decoder<T>): Decoder<readonly T[]>
export function list<T>(encoder: Encoder<T>, noun?: string): Encoder<readonly T[]>
export function list<T>(
  item: Partial<Schema<T>> & Pick<Schema<T>, 'name' | 'json'>,
  noun?: string,
): Partial<Schema<readonly T[]>> & Pick<Schema<readonly T[]>, 'name' | 'json'> {
  const { name, json, decode, encode } = item
  return {
    name: `list of ${name}`,
    json: { type: 'array', items: json },
    ...(noun !== undefined && { noun }),
    ...(decode && {
      decode: (value, path, notes) => {
        if (!Array.isArray(value)) throw invalid(path, `a list of ${name}`, value)
        return value.map((each, i) => decode(each, `${path}[${i}]`, notes))
      },
    }),
    ...(encode && { encode: (values) => values.map((value) => encode(value)) }),
  }
}

export function enumeration<const W extends string>(words: readonly W[]): Schema<W> {
  return {
    name: words.join(' | '),
    json: { type: 'string', enum: words },
    decode: (value, path) => {
      const word = words.find((each) => each === value)
      if (word === undefined) throw invalid(path, `one of ${words.join(', ')}`, value)
      return word
    },
    encode: (value) => value,
  }
}

export const anything: Schema<Json> = {
  name: 'anything',
  json: {},
  decode: (value) => value as Json,
  encode: (value) => value,
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  }
  if (typeof value !== 'string' || value.length > 200) return undefined
  return /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(value) ? BigInt(value) : undefined
}

/** More than 32 bytes of hex, even zeros, are a mistake and no number. */
function isTooLong(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('0x') && value.length > 66
}
