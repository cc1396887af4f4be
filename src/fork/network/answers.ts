// What another network answers, read: what it is not is an error that shows it.
import { DevchainError } from '../../core/errors.ts'

/** Reads a number that another node wrote. */
export function quantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value)
  throw unexpected('a number', value)
}

/** The error of an answer that is something else. */
export function unexpected(what: string, value: unknown): DevchainError {
  const got = JSON.stringify(value)?.slice(0, 100) ?? 'nothing'
  return new DevchainError('UPSTREAM_FAILED', `the forked network answered ${got}, not ${what}`)
}
