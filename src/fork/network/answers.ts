// What another network answers, read: what it is not is an error that shows it.
import { NoAnswer } from '../client/provider.ts'

/** Reads a number that another node wrote. */
export function quantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value)
  throw unexpected('a number', value)
}

/** Reads a slot's value: some nodes leave leading zeros out, or answer nothing for zero. */
export function word(value: unknown): bigint {
  return value === '0x' ? 0n : quantity(value)
}

/** True for what `word` reads. */
export function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{0,64}$/.test(value)
}

/** The error of an answer that is something else. */
export function unexpected(what: string, value: unknown): NoAnswer {
  const got = JSON.stringify(value)?.slice(0, 100) ?? 'nothing'
  return new NoAnswer(`the forked network answered ${got}, not ${what}`)
}
