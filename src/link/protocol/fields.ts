// Field types of peer messages: how each is encoded as RLP, and decoded within bounds.
import { type DevchainError, invalidParams } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { RlpValue } from '../../core/rlp.ts'
import { ListFields } from '../../protocol/fields.ts'

export interface FieldCodec<T> {
  readonly encode: (value: T) => RlpValue
  /** @throws {DevchainError} `INVALID_PARAMS` for an invalid or too large value */
  readonly read: (fields: ListFields, name: string) => T
}

export function integer(most: number): FieldCodec<bigint> {
  return { encode: (value) => value, read: (fields, name) => fields.integer(name, most) }
}

/** A safe integer. */
export const count: FieldCodec<number> = {
  encode: (value) => BigInt(value),
  read: (fields, name) => Number(fields.integer(name, 6)),
}

export const hash: FieldCodec<Hash> = {
  encode: (value) => value,
  read: (fields, name) => fields.hash(name),
}

export const flag: FieldCodec<boolean> = {
  encode: (value) => (value ? 1n : 0n),
  read: (fields, name) => fields.integer(name, 1) !== 0n,
}

export function bytes(most: number, least = 0): FieldCodec<Uint8Array> {
  return {
    encode: (value) => value,
    read: (fields, name) => {
      const value = fields.bytes(name)
      if (value.length <= most && value.length >= least) return value
      const expected = least === most ? `${most}` : `at most ${most}`
      throw malformed(`${name} has ${value.length} bytes, expected ${expected}`)
    },
  }
}

/** One line of UTF-8, at most `most` bytes; control characters are replaced. */
export function text(most: number): FieldCodec<string> {
  const raw = bytes(most)
  return {
    encode: (value) => new TextEncoder().encode(value).subarray(0, most),
    read: (fields, name) =>
      new TextDecoder().decode(raw.read(fields, name)).replace(/[\p{Cc}\p{Cf}]/gu, '�'),
  }
}

export function list<T>(item: FieldCodec<T>, most: number): FieldCodec<readonly T[]> {
  return {
    encode: (values) => values.map(item.encode),
    read: (fields, name) => {
      const items = fields.list(name)
      if (items.length > most) {
        throw malformed(`${name} has ${items.length} items, expected at most ${most}`)
      }
      const each = new ListFields(items, name, items.length, items.length)
      return items.map((_, i) => item.read(each, `${i}`))
    },
  }
}

export function malformed(problem: string): DevchainError {
  return invalidParams(`malformed message: ${problem}`)
}
