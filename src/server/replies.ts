// What is written to HTTP clients: replies, and refusals with the reason in the form of JSON-RPC.
import { once } from 'node:events'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { errorCode } from '../rpc/errors.ts'
import type { JsonText } from '../rpc/jsontext.ts'
import { writeError } from '../rpc/wire.ts'

/** Any page may read a reply; which `Host` it must name is another matter. */
export const CORS_HEADERS = { 'access-control-allow-origin': '*' } as const

/** What a browser asks before it lets a page ask. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  ...CORS_HEADERS,
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
}

/** Why a request is not taken. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number
  readonly word: 'INVALID_REQUEST' | 'LIMIT_EXCEEDED'
  /** One line. */
  readonly message: string
  /** Besides those of every reply. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How often a client that sends no more is asked whether it still waits for its replies, in milliseconds. */
export const PROBE_MS = 500

/** Every client of HTTP/1.1 reads on after it. From a machine or process that is gone comes a reset instead. */
export const STILL_WORKING = 'HTTP/1.1 102 Processing\r\n\r\n'

/** Requests of one connection that may wait for their replies. */
export const MAX_PIPELINED = 1_000

export const tooManyPipelined: Refusal = {
  status: 503,
  word: 'LIMIT_EXCEEDED',
  message: `at most ${MAX_PIPELINED} requests of a connection may wait for their replies`,
}

export const brokenOff: Refusal = {
  status: 400,
  word: 'INVALID_REQUEST',
  message: 'the request broke off before its end',
}

/** One write: head and body together. */
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

/** A reply that is too long for one write: piece by piece, as fast as the client reads. */
export async function sendLong(response: ServerResponse, body: JsonText): Promise<void> {
  response.writeHead(200, {
    ...CORS_HEADERS,
    'content-type': 'application/json',
    'content-length': body.size,
  })
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  for await (const chunk of body.chunks()) {
    if (gone.signal.aborted) return
    if (response.write(chunk)) continue
    // whoever reads no more is gone, or will be when the server stops
    await once(response, 'drain', { signal: gone.signal }).catch(() => undefined)
  }
  response.end()
}

/**
 * Says why a request is not taken. The connection stays: node reads and drops what is left of the body. To close it
 * while bytes come in would reset it, and the client would never see the reason.
 */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  // whoever waited for "100 Continue" and gets this instead may leave the body out: what follows could be anything
  if (response.req.headers.expect !== undefined) response.setHeader('connection', 'close')
  send(response, refusal.status, textOf(refusal), refusal.headers)
}

/** A refusal as it is written to a socket that node's server has no response for. It ends the connection. */
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

/** The body that tells of a refusal. */
export function textOf({ word, message }: Refusal): string {
  return writeError(null, { code: errorCode(word), message })
}
