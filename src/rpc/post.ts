// Posts over kept connections with Node's http client: loading `fetch` adds 20 ms or more to a start.
import http from 'node:http'
import { gunzipSync } from 'node:zlib'
import { attempt } from '../core/errors.ts'
import { getOrMake } from '../core/lrucache.ts'

const MOST_CONNECTIONS = 8

/** Bytes of a response. */
export const MOST_BYTES = 268_435_456
export const TOO_LONG: string = `an answer of more than ${MOST_BYTES} bytes`

/** Redirects that are followed, and how many in a row. */
const MOVED: ReadonlySet<number | undefined> = new Set([301, 302, 307, 308])
const MOST_MOVES = 3

export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
  /** Of a redirect, absolute if it is valid. */
  readonly location?: string | undefined
}

type Headers = Readonly<Record<string, string>>

export const JSON_HEADERS: Headers = { 'content-type': 'application/json', accept: '*/*' }

export class Poster {
  readonly #url: URL
  readonly #headers: Headers
  /** By protocol. */
  readonly #agents = new Map<string, http.Agent>()

  /** @param url HTTP URL without user and password */
  constructor(url: URL, headers: Headers) {
    this.#url = url
    this.#headers = headers
  }

  /** @throws {Error} with a message for users; a `TimeoutError` after `timeoutMs` */
  async post(body: string, timeoutMs: number): Promise<HttpResponse> {
    const end = AbortSignal.timeout(Math.ceil(timeoutMs))
    try {
      let at = this.#url
      for (let moves = 0; ; moves++) {
        const response = await this.#send(at, body, end)
        const answer = await readResponse(response, at)
        const { status, location = '' } = answer
        const isHttp = URL.canParse(location) && /^https?:/.test(location)
        if (!isHttp || !MOVED.has(status) || moves === MOST_MOVES) return answer
        at = new URL(location)
      }
    } catch (error) {
      throw end.aborted ? end.reason : error
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }

  async #send(url: URL, body: string, signal: AbortSignal): Promise<http.IncomingMessage> {
    // TLS takes a while to load, and local nodes do without
    const client = url.protocol === 'https:' ? (await import('node:https')).default : http
    const settings = { keepAlive: true, maxSockets: MOST_CONNECTIONS }
    const agent = getOrMake(this.#agents, url.protocol, () => new client.Agent(settings))
    // secrets go only to the server they were given for
    const own = url.host === this.#url.host ? this.#headers : JSON_HEADERS
    const headers = { ...own, 'content-length': String(Buffer.byteLength(body)) }
    for (;;) {
      const request = client.request(url, { method: 'POST', agent, headers, signal })
      try {
        return await new Promise((resolve, reject) => {
          request.on('response', resolve).on('error', reject).end(body)
        })
      } catch (error) {
        // a connection that closed as it was reused says nothing about the server: try a fresh one at once
        if (!request.reusedSocket || signal.aborted) throw error
      }
    }
  }
}

/** @param at the URL that it comes from */
export async function readResponse(response: http.IncomingMessage, at: URL): Promise<HttpResponse> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > MOST_BYTES) throw new Error(TOO_LONG)
  }
  const bytes = Buffer.concat(parts)
  const {
    location,
    'content-encoding': encoding = '',
    'retry-after': retryAfter,
  } = response.headers
  // TextDecoder drops the byte order mark that some gateways add
  const isZipped = /^(x-)?gzip$/i.test(encoding)
  const text = new TextDecoder().decode(isZipped ? gunzipSync(bytes) : bytes)
  const next = location && (attempt(() => new URL(location, at).href) ?? location)
  return { status: response.statusCode ?? 0, text, retryAfter, location: next }
}
