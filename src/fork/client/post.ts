// Posts over kept connections, by node's own client: to load `fetch` takes 20 ms and more of a start.
import http from 'node:http'
import { gunzipSync } from 'node:zlib'

/** Connections to one server. */
const MOST_CONNECTIONS = 8

/** Bytes of an answer that are read. */
const MOST_BYTES = 268_435_456

/** Statuses that send elsewhere, and how often they may. */
const MOVED: ReadonlySet<number | undefined> = new Set([301, 302, 307, 308])
const MOST_MOVES = 3

export interface Posted {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
}

type Headers = Readonly<Record<string, string>>

export const JSON_HEADERS: Headers = { 'content-type': 'application/json', accept: '*/*' }

/** Posts to one URL. */
export class Poster {
  readonly #url: URL
  readonly #headers: Headers
  /** By protocol. */
  readonly #agents = new Map<string, http.Agent>()

  /** @param url of HTTP, without user and password */
  constructor(url: URL, headers: Headers) {
    this.#url = url
    this.#headers = headers
  }

  /** @throws {Error} in words for a user; a `TimeoutError` when there was no answer in time */
  async post(body: string, timeoutMs: number): Promise<Posted> {
    const end = AbortSignal.timeout(timeoutMs)
    try {
      let at = this.#url
      for (let moves = 0; ; moves++) {
        const response = await this.#send(at, body, end)
        const text = await textOf(response)
        const { statusCode: status = 0, headers } = response
        const { location, 'retry-after': retryAfter } = headers
        const isMoved = MOVED.has(status) && location !== undefined && moves < MOST_MOVES
        if (!isMoved) return { status, text, retryAfter }
        at = new URL(location, at)
      }
    } catch (error) {
      throw end.aborted ? end.reason : error
    }
  }

  /** Cuts all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }

  async #send(url: URL, body: string, signal: AbortSignal): Promise<http.IncomingMessage> {
    // what encrypts takes a while to load, which a node of one's own has no use for
    const client = url.protocol === 'https:' ? (await import('node:https')).default : http
    const agent =
      this.#agents.get(url.protocol) ??
      new client.Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS })
    this.#agents.set(url.protocol, agent)
    // secrets are for the server that they were given for
    const own = url.host === this.#url.host ? this.#headers : JSON_HEADERS
    const headers = { ...own, 'content-length': String(Buffer.byteLength(body)) }
    for (;;) {
      const request = client.request(url, { method: 'POST', agent, headers, signal })
      try {
        return await new Promise((resolve, reject) => {
          request.on('response', resolve).on('error', reject).end(body)
        })
      } catch (error) {
        // one that was closed just as it was used again says nothing of the server: a fresh one is tried at once
        if (!request.reusedSocket || signal.aborted) throw error
      }
    }
  }
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES} bytes`)
  }
  const bytes = Buffer.concat(parts)
  const isZipped = response.headers['content-encoding'] === 'gzip'
  // it leaves out a byte order mark, which some gateways put there
  return new TextDecoder().decode(isZipped ? gunzipSync(bytes) : bytes)
}
