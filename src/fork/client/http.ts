// Requests to another network by HTTP.
import { DevchainError } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'
import { JSON_HEADERS, type Poster, posterOf } from './post.ts'
import { isPrivateUrl } from './private.ts'
import { type Ask, isLimitError, type Provider, ProviderFailure, type Reply } from './provider.ts'
import { type Cleaner, cleanerOf, shownUrl } from './redact.ts'

/** Requests of one batch before anything is known of a service: the most that common ones take. */
const MOST_AT_ONCE = 100

/** Seconds that a `Retry-After` is obeyed for, at most. */
const LONGEST_WAIT = 60

/**
 * A provider that posts to a URL.
 * @throws {DevchainError} `INVALID_PARAMS` for what is no URL of HTTP
 */
export function httpProvider(url: string, headers: readonly Header[] = []): Provider {
  const { username, password, href } = readUrl(url)
  const own = new URL(href)
  own.username = ''
  own.password = ''
  const sent: Record<string, string> = { ...JSON_HEADERS }
  // at home it would take time and save none
  if (!isPrivateUrl(href)) sent['accept-encoding'] = 'gzip'
  const secrets = headers.map(({ value }) => value)
  for (const { name, value } of headers) sent[name] = value
  if (username !== '') {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    sent.authorization ??= `Basic ${Buffer.from(pair).toString('base64')}`
    secrets.push(sent.authorization)
  }
  const poster = posterOf(own, sent)
  const shown = { where: shownUrl(url), clean: cleanerOf(url, secrets) }
  return {
    name: shown.where,
    mostAtOnce: MOST_AT_ONCE,
    send: async (asks, timeoutMs) => {
      const body = JSON.stringify(asks.length === 1 ? envelope(asks[0]!, 0) : asks.map(envelope))
      return repliesOf(await answerOf(poster, body, timeoutMs, shown), asks, shown)
    },
    close: () => poster.close(),
  }
}

/** A header that requests are sent with. */
export interface Header {
  readonly name: string
  readonly value: string
}

function readUrl(url: string): URL {
  let read: URL | undefined
  try {
    read = new URL(url)
  } catch {
    read = undefined
  }
  if (read !== undefined && /^https?:$/.test(read.protocol)) return read
  const message = `fork: expected the URL of a node, beginning with http:// or https://, got ${shownUrl(url)}`
  throw new DevchainError('INVALID_PARAMS', message)
}

function envelope({ method, params }: Ask, id: number): Json {
  return { jsonrpc: '2.0', id, method, params }
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | undefined
}

/** How a network stands in errors. */
interface Shown {
  readonly where: string
  /** What it said, without keys. */
  readonly clean: Cleaner
}

async function answerOf(
  poster: Poster,
  body: string,
  timeoutMs: number,
  { where, clean }: Shown,
): Promise<Answer> {
  try {
    const { status, text, retryAfter } = await poster.post(body, timeoutMs)
    return { status, text, retryAfterMs: waitOf(retryAfter) }
  } catch (error) {
    const { name, message, code, cause } = error as NodeJS.ErrnoException
    const isLate = name === 'AbortError' && (cause as Error | undefined)?.name === 'TimeoutError'
    // of several addresses that all refuse node tells no more than a code
    const why = isLate ? `no answer within ${timeoutMs / 1000} s` : message || String(code)
    throw new ProviderFailure('broken', `${where}: ${clean(why)}`)
  }
}

/** Milliseconds of a `Retry-After`: seconds, or a date. */
function waitOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(value)
    ? Number(value)
    : (Date.parse(value) - Date.now()) / 1000
  return seconds >= 0 ? Math.min(seconds, LONGEST_WAIT) * 1000 : undefined
}

/** Reads what was answered, whatever a gateway in between made of it. */
function repliesOf(answer: Answer, asks: readonly Ask[], shown: Shown): readonly Reply[] {
  const { status, text, retryAfterMs } = answer
  const { where, clean } = shown
  const said = clean(text)
  if (status === 429 || status === 503) {
    throw new ProviderFailure('limited', `${where}: ${status} ${said}`, retryAfterMs)
  }
  const json = parsed(text)
  if (Array.isArray(json) && asks.length > 1) return inOrder(json, asks.length, shown)
  const single = Array.isArray(json) ? json[0] : json
  const reply = replyOf(single, clean)
  if (reply !== undefined && asks.length === 1) return [reply]
  if (reply !== undefined && 'error' in reply && isLimitError(reply.error)) {
    throw new ProviderFailure('limited', `${where}: ${reply.error.message}`, retryAfterMs)
  }
  if (asks.length > 1 && (reply !== undefined || (status >= 400 && status < 500))) {
    throw new ProviderFailure('refused', `${where}: ${status} ${said}`)
  }
  const what = status === 200 ? 'answered no JSON-RPC' : `answered ${status}`
  throw new ProviderFailure('broken', `${where} ${what}: ${said}`, retryAfterMs)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Replies may come in any order; a batch that is answered in part is refused as a whole. */
function inOrder(
  list: readonly unknown[],
  count: number,
  { where, clean }: Shown,
): readonly Reply[] {
  const byId = new Map(list.map((each) => [Number((each as { id?: unknown } | null)?.id), each]))
  return Array.from({ length: count }, (_, id) => {
    const reply = replyOf(byId.get(id), clean)
    if (reply !== undefined) return reply
    throw new ProviderFailure('refused', `${where}: ${list.length} replies to ${count}`)
  })
}

function replyOf(value: unknown, clean: Cleaner): Reply | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { result, error } = value as { result?: Json; error?: unknown }
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
    const words = clean(String(message ?? 'an error without words'))
    const read = { code: Number(code ?? -32000), message: words }
    return { error: data === undefined ? read : { ...read, data: clean.json(data) } }
  }
  if (typeof error === 'string') {
    return { error: { code: -32000, message: clean(error) } }
  }
  return result === undefined ? undefined : { result }
}
