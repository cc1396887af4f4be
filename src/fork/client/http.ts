// Requests to another network by HTTP.
import { DevchainError } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'
import { type Ask, isLimitError, type Provider, ProviderFailure, type Reply } from './provider.ts'
import { shownUrl, withoutSecrets } from './redact.ts'

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
  const sent: Record<string, string> = { 'content-type': 'application/json' }
  for (const { name, value } of headers) sent[name] = value
  if (username !== '') {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    sent.authorization ??= `Basic ${Buffer.from(pair).toString('base64')}`
  }
  return {
    name: shownUrl(url),
    mostAtOnce: MOST_AT_ONCE,
    send: async (asks, timeoutMs) => {
      const body = JSON.stringify(asks.length === 1 ? envelope(asks[0]!, 0) : asks.map(envelope))
      const answer = await post({ url: own.href, shown: url, headers: sent, body, timeoutMs })
      return repliesOf(answer, asks, url)
    },
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

interface Posted {
  readonly url: string
  /** The URL as it was given, to be kept out of errors. */
  readonly shown: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | undefined
}

async function post({ url, shown, headers, body, timeoutMs }: Posted): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    const after = Number(response.headers.get('retry-after') ?? Number.NaN)
    const retryAfterMs = after >= 0 ? Math.min(after, LONGEST_WAIT) * 1000 : undefined
    return { status: response.status, text: await response.text(), retryAfterMs }
  } catch (error) {
    const { name, message, cause } = error as Error
    const why =
      name === 'TimeoutError'
        ? `no answer within ${timeoutMs / 1000} s`
        : ((cause as Error | undefined)?.message ?? message)
    throw new ProviderFailure('broken', `${shownUrl(shown)}: ${withoutSecrets(why, shown)}`)
  }
}

/** Reads what was answered, whatever a gateway in between made of it. */
function repliesOf(answer: Answer, asks: readonly Ask[], url: string): readonly Reply[] {
  const { status, text, retryAfterMs } = answer
  const where = shownUrl(url)
  const said = withoutSecrets(text, url)
  if (status === 429 || status === 503) {
    throw new ProviderFailure('limited', `${where}: ${status} ${said}`, retryAfterMs)
  }
  const json = parsed(text)
  if (Array.isArray(json) && asks.length > 1) return inOrder(json, asks.length, url)
  const single = Array.isArray(json) ? json[0] : json
  const reply = replyOf(single, url)
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
function inOrder(list: readonly unknown[], count: number, url: string): readonly Reply[] {
  const byId = new Map(list.map((each) => [Number((each as { id?: unknown } | null)?.id), each]))
  return Array.from({ length: count }, (_, id) => {
    const reply = replyOf(byId.get(id), url)
    if (reply !== undefined) return reply
    throw new ProviderFailure('refused', `${shownUrl(url)}: ${list.length} replies to ${count}`)
  })
}

function replyOf(value: unknown, url: string): Reply | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { result, error } = value as { result?: Json; error?: unknown }
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
    const words = withoutSecrets(String(message ?? 'an error without words'), url)
    const read = { code: Number(code ?? -32000), message: words }
    return { error: data === undefined ? read : { ...read, data } }
  }
  if (typeof error === 'string') {
    return { error: { code: -32000, message: withoutSecrets(error, url) } }
  }
  return result === undefined ? undefined : { result }
}
