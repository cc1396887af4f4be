// Carries requests over HTTP.
import { jsonIn } from '../../core/objects.ts'
import { type HttpResponse, JSON_HEADERS, Poster } from '../../rpc/post.ts'
import type { Json } from '../../rpc/schema.ts'
import {
  isLimitError,
  isMethodNotFound,
  type Provider,
  ProviderFailure,
  type UpstreamError,
  type UpstreamReply,
  type UpstreamRequest,
} from './provider.ts'
import {
  type Cleaner,
  endpointOf,
  type Headers,
  isPrivateUrl,
  type Shown,
  shownUrl,
} from './urls.ts'

/** Batch size before the service's limit is known: common services accept this many. */
const MOST_AT_ONCE = 100

/** Node's error codes for a certificate with an unknown issuer. */
const UNKNOWN_ISSUER =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/

/** Error codes that no retry cures: bad certificates, or a server without TLS. */
const NO_ENCRYPTION = /^(CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+|EPROTO)$/

const REMEDY =
  "if you trust its issuer, name a file with the issuer's certificate in the environment variable NODE_EXTRA_CA_CERTS"

/** 4xx statuses that may pass. */
const PASSING_STATUSES = new Set([408, 425])

/** JSON-RPC codes that blame the request itself. */
const REFUSED_CODES = new Set([3, -32602])

/** @throws {DevchainError} `INVALID_PARAMS` for an invalid URL */
export function httpProvider(url: string, given: Headers = {}): Provider {
  const endpoint = endpointOf(url, given)
  // on a local node, compression costs time and saves none
  const accepted = isPrivateUrl(url) ? {} : { 'accept-encoding': 'gzip' }
  const poster = new Poster(endpoint.url, { ...JSON_HEADERS, ...accepted, ...endpoint.headers })
  return {
    name: endpoint.where,
    mostAtOnce: MOST_AT_ONCE,
    send: async (asks, timeoutMs) => {
      const envelopes = asks.map((ask, id) => ({ jsonrpc: '2.0', id, ...ask }))
      const body = JSON.stringify(asks.length === 1 ? envelopes[0] : envelopes)
      const answer = await answerOf(() => poster.post(body, timeoutMs), timeoutMs, endpoint)
      return repliesOf(answer, asks, endpoint)
    },
    close: () => poster.close(),
  }
}

/** @param post rejects with the error of a connection, or a `TimeoutError` */
export async function answerOf<Answer>(
  post: () => Promise<Answer>,
  timeoutMs: number,
  { where, clean }: Shown,
): Promise<Answer> {
  try {
    return await post()
  } catch (error) {
    const { name, message, code } = error as NodeJS.ErrnoException
    const late = `no answer within ${Math.round(timeoutMs / 10) / 100} s`
    // if several addresses refuse, Node gives only a code
    const why = name === 'TimeoutError' ? late : message || String(code)
    const said = `${where}: ${clean(why)}`
    if (UNKNOWN_ISSUER.test(code ?? '')) throw new ProviderFailure('final', `${said}; ${REMEDY}`)
    throw new ProviderFailure(NO_ENCRYPTION.test(code ?? '') ? 'final' : 'broken', said)
  }
}

/** Milliseconds from a `Retry-After` header: seconds, or a date. */
function waitOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(value)
    ? Number(value)
    : (Date.parse(value) - Date.now()) / 1000
  return seconds >= 0 ? Math.round(seconds * 1000) : undefined
}

/**
 * Parses the response, which may come from a gateway.
 * @param id of the only request
 */
export function repliesOf(
  answer: HttpResponse & { readonly json?: unknown },
  asks: readonly UpstreamRequest[],
  shown: Shown,
  id = 0,
): readonly UpstreamReply[] {
  const { status, text, location } = answer
  const { where, clean } = shown
  const retryAfterMs = waitOf(answer.retryAfter)
  const said = (): string => clean(text.trim() || '(empty response)')
  if (status === 429 || status === 503) {
    throw new ProviderFailure('limited', `${where}: ${status} ${said()}`, retryAfterMs)
  }
  if (status >= 300 && status < 400 && location !== undefined) {
    const message = `${where} answered ${status}, a redirect to ${shownUrl(location)}: name the URL of the node itself`
    throw new ProviderFailure('final', message)
  }
  const json = answer.json ?? jsonIn(text)
  if (Array.isArray(json) && asks.length > 1) return inOrder(json, asks.length, answer, shown)
  const single = Array.isArray(json) && json.length === 1 ? json[0] : json
  const reply = replyOf(single, answer, clean)
  if (reply !== undefined && asks.length === 1 && (idOf(single) ?? id) === id) return [reply]
  const error = reply !== undefined && 'error' in reply ? reply.error : undefined
  if (error !== undefined && isLimitError(error)) {
    throw new ProviderFailure('limited', `${where}: ${error.message}`, retryAfterMs)
  }
  const isRefused = status >= 400 && status < 500 && !PASSING_STATUSES.has(status)
  if (asks.length > 1 && (isRefused || (reply !== undefined && status < 500))) {
    throw new ProviderFailure('refused', `${where}: ${status} ${said()}`)
  }
  const what = status === 200 ? 'answered no JSON-RPC' : `answered ${status}`
  const kind = isRefused ? 'final' : 'broken'
  throw new ProviderFailure(kind, `${where} ${what}: ${said()}`, retryAfterMs)
}

/** Replies may come in any order. Without one reply to each request, the whole batch counts as refused. */
function inOrder(
  list: readonly unknown[],
  count: number,
  answer: HttpResponse,
  { where, clean }: Shown,
): readonly UpstreamReply[] {
  const byId = new Map(list.map((each) => [idOf(each), each]))
  const replies = Array.from({ length: count }, (_, id) => replyOf(byId.get(id), answer, clean))
  // dRPC refuses each request of a batch that is too large
  const errors = replies.map((each) => (each && 'error' in each ? each.error.message : ''))
  const isRefused = errors.every((words) => /\bbatch/i.test(words))
  // a duplicate leaves another request without a reply
  const isWhole = list.length === count && replies.every((each) => each !== undefined)
  if (isWhole && !isRefused) return replies as readonly UpstreamReply[]
  const what = isRefused
    ? errors[0]
    : `${list.length} replies to ${count} requests, not one to each`
  throw new ProviderFailure('refused', `${where}: ${what}`)
}

/** Undefined: the reply names no request. */
export function idOf(value: unknown): number | undefined {
  const { id } = (value ?? {}) as { id?: unknown }
  return id === undefined || id === null || id === '' ? undefined : Number(id)
}

function replyOf(value: unknown, answer: HttpResponse, clean: Cleaner): UpstreamReply | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { result, error } = value as { result?: Json; error?: unknown }
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
    const words = clean(String(message || 'an error without words'))
    const read = { code: Number(code ?? -32000), message: words }
    const whole = data === undefined ? read : { ...read, data: clean.json(data) }
    return { error: whole, mayPass: answer.status >= 500 && !isAboutRequest(read) }
  }
  if (typeof error === 'string') return replyOf({ error: { message: error } }, answer, clean)
  return result === undefined ? undefined : { result }
}

function isAboutRequest(error: UpstreamError): boolean {
  return REFUSED_CODES.has(error.code) || /revert/i.test(error.message) || isMethodNotFound(error)
}
