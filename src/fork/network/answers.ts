// Parses what a network answers; errors quote what is wrong.
import { DevchainError } from '../../core/errors.ts'
import { isBytes } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { NoAnswer, NullAnswer } from '../client/provider.ts'

export function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)
}

export function quantity(value: unknown): bigint {
  if (isQuantity(value)) return BigInt(value)
  throw unexpected('a number', value)
}

/** Some nodes leave out leading zeros, or answer nothing for zero. */
export function word(value: unknown): bigint {
  return value === '0x' ? 0n : quantity(value)
}

export function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{0,64}$/.test(value)
}

export type JsonObject = Readonly<Record<string, Json | undefined>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Empty for what is no list. */
export function listIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** Bytes as hex. */
export function bytesIn(value: unknown, what = 'code'): string {
  if (typeof value === 'string' && isBytes(value)) return value
  throw unexpected(what, value)
}

export function reading<T>(what: string, value: unknown, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DevchainError && error.word !== 'INVALID_PARAMS') throw error
    throw unexpected(what, value)
  }
}

export function something(answer: Json): Json {
  if (answer === null)
    throw new NullAnswer('the forked network answered null, not what is in a block')
  return answer
}

export function unexpected(what: string, value: unknown): NoAnswer {
  const got = JSON.stringify(value)?.slice(0, 100) ?? 'nothing'
  return new NoAnswer(`the forked network answered ${got}, not ${what}`)
}
