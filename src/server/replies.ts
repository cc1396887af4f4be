// Writes replies to HTTP clients, and refusals as JSON-RPC errors.
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { ERROR_CODES } from '../core/errors.ts'
import type { JsonText } from '../rpc/jsontext.ts'
import { writeError } from '../rpc/wire.ts'

/** Any page may read a reply; the `Host` check is separate. */
export const CORS_HEADERS = { 'access-control-allow-origin': '*' } as const

/** The reply to a CORS preflight request. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  ...CORS_HEADERS,
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
}

export interface Refusal {
  readonly status: number
  readonly message: string
  /** Besides those of every reply. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Milliseconds between probes of a client that has closed its side. */
export const PROBE_MS = 500

/** Every HTTP/1.1 client ignores it; a machine or process that is gone causes a reset. */
export const STILL_WORKING = 'HTTP/1.1 102 Processing\r\n\r\n'

/** Requests of one connection that may wait for their replies. */
export const MAX_PIPELINED = 1_000

export const tooManyPipelined: Refusal = {
  status: 503,
  message: `over ${MAX_PIPELINED} requests of one connection wait for replies`,
}

export const brokenOff: Refusal = {
  status: 400,
  message: 'the connection closed before the request was complete',
}

/** One write for head and body. */
export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Refusal['headers'] = {},
  contentType = 'application/json',
): void {
  response
    .writeHead(status, {
      ...CORS_HEADERS,
      ...headers,
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}

/** In pieces, as fast as the client reads. */
export async function sendLong(response: ServerResponse, body: JsonText): Promise<void> {
  response.writeHead(200, {
    ...CORS_HEADERS,
    'content-type': 'application/json',
    'content-length': body.size,
  })
  // one that fails is destroyed: a reply that ends too early must not look whole
  await pipeline(body.chunks(), response).catch(() => undefined)
}

/**
 * The connection stays open: node reads and drops the rest of the body. Closing it while bytes arrive would reset it,
 * and the client would never see the reason.
 */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  // after a refusal instead of "100 Continue" the client may omit the body: what follows is ambiguous
  if (response.req.headers.expect !== undefined) response.setHeader('connection', 'close')
  send(response, refusal.status, textOf(refusal), refusal.headers)
}

/** A refusal for a socket without a node response. It ends the connection. */
export function rawRefusal(refusal: Refusal): string {
  const body = textOf(refusal)
  return [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'connection: close',
    `access-control-allow-origin: ${CORS_HEADERS['access-control-allow-origin']}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

/** Statuses of what is over a limit; the others are of invalid requests. */
const LIMITS: readonly number[] = [413, 431, 503]

export function textOf({ status, message }: Refusal): string {
  const word = LIMITS.includes(status) ? 'LIMIT_EXCEEDED' : 'INVALID_REQUEST'
  return writeError(null, { code: ERROR_CODES[word], message })
}
