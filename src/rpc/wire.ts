// JSON-RPC 2.0 text: reads requests within limits, writes replies.
import { isUtf8 } from 'node:buffer'
import { DevchainError, printValue } from '../core/errors.ts'
import { isObject } from '../core/objects.ts'
import type { ErrorObject } from './errors.ts'
import { JsonText } from './jsontext.ts'
import type { Json } from './schema.ts'

export interface WireLimits {
  readonly batch: number
  /** Nesting of lists and objects. */
  readonly depth: number
  /** Characters of the replies to a batch; entries beyond are not run. */
  readonly replies: number
}

export const DEFAULT_LIMITS: WireLimits = { batch: 1000, depth: 100, replies: 100_000_000 }

/** A number that JavaScript rounds, as it was given. */
class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type RequestId = string | number | ExactNumber | null

export interface WireRequest {
  /** Undefined for a notification, which gets no reply. */
  readonly id: RequestId | undefined
  readonly method: string
  /** By position, by name, or none. */
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>
}

/** @throws {DevchainError} `PARSE_ERROR` for text that is no JSON in UTF-8, `INVALID_REQUEST` for too deep nesting */
export function parseMessage(message: string | Uint8Array, limits: WireLimits): unknown {
  const text = typeof message === 'string' ? message : textOf(message)
  checkDepth(text, limits.depth)
  try {
    const value: unknown = JSON.parse(text)
    const isRounded = Array.isArray(value) ? value.some(hasRoundedId) : hasRoundedId(value)
    if (isRounded) readExactIds([value].flat(), text)
    return value
  } catch (error) {
    // the message quotes the text, line breaks and all
    const problem = (error as Error).message.replaceAll(/\s+/g, ' ')
    throw new DevchainError('PARSE_ERROR', `parse error: ${problem}`)
  }
}

/** @throws {DevchainError} `INVALID_REQUEST` naming the invalid member */
export function readRequest(value: unknown): WireRequest {
  if (!isObject(value)) throw invalid(`expected a request object, got ${printValue(value)}`)
  const { jsonrpc, id, method, params } = value
  if (jsonrpc !== undefined && jsonrpc !== '2.0') {
    throw invalid(`expected "jsonrpc": "2.0", got ${printValue(jsonrpc)}`)
  }
  if (typeof method !== 'string') {
    throw invalid(`expected "method" to be the name of a method, got ${printValue(method)}`)
  }
  if (!isId(id)) {
    throw invalid(`expected "id" to be a number, a string or null, got ${printValue(id)}`)
  }
  if (params === undefined || params === null) return { id, method, params: [] }
  if (typeof params !== 'object') {
    throw invalid(`expected "params" to be a list or an object, got ${printValue(params)}`)
  }
  return { id, method, params: params as WireRequest['params'] }
}

function hasRoundedId(value: unknown): value is { id: number | ExactNumber } {
  return isObject(value) && typeof value.id === 'number' && !Number.isSafeInteger(value.id)
}

function readExactIds(requests: readonly unknown[], text: string): void {
  const rounded = requests.filter(hasRoundedId)
  let at = 0
  for (const [, number = ''] of text.matchAll(/"id"\s*:\s*([-+.\de]+)/gi)) {
    const request = rounded[at]
    // numbers of parameters may be named so, too
    if (request?.id !== Number(number)) continue
    request.id = new ExactNumber(number)
    at += 1
  }
}

/** The id for the error of a message that no chain reads; that of a batch is null. */
export function idIn(message: Uint8Array): RequestId {
  try {
    return idOf(parseMessage(message, DEFAULT_LIMITS))
  } catch {
    return null
  }
}

/** The id for the error of a malformed request: its own, or null if missing or malformed. */
export function idOf(value: unknown): RequestId {
  if (typeof value !== 'object' || value === null) return null
  const { id } = value as Readonly<Record<string, unknown>>
  return isId(id) ? (id ?? null) : null
}

export function writeResult(id: RequestId, result: Json | JsonText): string | JsonText {
  const before = `{"jsonrpc":"2.0","id":${printId(id)},"result":`
  if (!(result instanceof JsonText)) return `${before}${JSON.stringify(result)}}`
  return result.short === undefined ? result.within(before, '}') : `${before}${result.short}}`
}

export function writeError(id: RequestId, error: ErrorObject): string {
  return `{"jsonrpc":"2.0","id":${printId(id)},"error":${JSON.stringify(error)}}`
}

function printId(id: RequestId): string {
  return id instanceof ExactNumber ? id.text : JSON.stringify(id)
}

function isId(value: unknown): value is RequestId | undefined {
  return (
    value === undefined ||
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    value instanceof ExactNumber
  )
}

function textOf(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes
  const text = (
    bytes instanceof Buffer ? bytes : Buffer.from(buffer, byteOffset, length)
  ).toString()
  // invalid UTF-8 decodes to this
  if (text.includes('\ufffd') && !isUtf8(bytes)) {
    throw new DevchainError('PARSE_ERROR', 'parse error: expected UTF-8')
  }
  return text
}

/** Refuses deep nesting, because later walks through the value recurse. Brackets in strings do not count. */
function checkDepth(text: string, limit: number): void {
  // nearly all messages have few brackets
  if (countUpTo(limit, text, '{') + countUpTo(limit, text, '[') <= limit) return
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) throw invalid(`nested too deeply: at most ${limit} levels are read`)
    } else if (code === 0x5d || code === 0x7d) depth--
  }
}

/** Stops counting beyond the limit. */
function countUpTo(limit: number, text: string, character: string): number {
  let count = 0
  let at = text.indexOf(character)
  for (; at >= 0 && count <= limit; count++) at = text.indexOf(character, at + 1)
  return count
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Nearly all of a message is strings, so they are skipped. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** True after an odd number of backslashes. */
function isEscaped(text: string, place: number): boolean {
  let first = place
  while (text.charCodeAt(first - 1) === BACKSLASH) first--
  return (place - first) % 2 === 1
}

function invalid(problem: string): DevchainError {
  return new DevchainError('INVALID_REQUEST', `invalid request: ${problem}`)
}
