// Objects from JSON or a program, whose members are unknown.
import { attempt, invalid, invalidParams } from './errors.ts'

export type UnknownMembers = Readonly<Record<string, unknown>>

/** Undefined for text that is no JSON. */
export function jsonIn(text: string): unknown {
  return attempt((): unknown => JSON.parse(text))
}

/** @throws {DevchainError} `INVALID_PARAMS` that names the file */
export function jsonOf(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8 quotes the text, which may have a phrase and keys
    const quote = /, [^,]*".*" ?(\.\.\.)? ?is not valid JSON$/s
    const problem = (error as Error).message.replace(quote, '')
    throw invalidParams(`${file} is not valid JSON: ${problem}`)
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` that names the path of a value that is no object */
export function objectAt(path: string, value: unknown, expected = 'an object'): UnknownMembers {
  if (isObject(value)) return value
  throw invalid(path, expected, value)
}

/** False for null and lists. */
export function isObject(value: unknown): value is UnknownMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
