// Takes secrets out of messages.
import { DevchainError, printValue } from '../core/errors.ts'
import type { Decoder, Json } from './schema.ts'

export const HIDDEN = '•••'

/** Secrets of this length or more are replaced without their quotes too; shorter ones occur inside words. */
const LONG = 6

export function scrubbed(
  message: string,
  secrets: readonly Json[],
  instead: string = HIDDEN,
): string {
  return secrets.reduce((text: string, secret) => {
    const quoted = text.replaceAll(printValue(secret), instead)
    const isLong = typeof secret === 'string' && secret.length >= LONG
    return isLong ? quoted.replaceAll(secret, instead) : quoted
  }, message)
}

/** Errors of this decoder do not quote the value: callers print them. */
export function discreet<T>(decoder: Decoder<T>): Decoder<T> {
  const decode: Decoder<T>['decode'] = (value, path, notes) => {
    try {
      return decoder.decode(value, path, notes)
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
      const message = scrubbed(error.message, [value as Json], kindOf(value))
      throw new DevchainError(error.word, message, error.data)
    }
  }
  return { ...decoder, decode }
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'other text'
  if (typeof value !== 'object') return `a ${typeof value}`
  return Array.isArray(value) ? 'a list' : 'an object'
}
