// The server: JSON-RPC over HTTP and WebSocket on one port, on any path.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Dispatcher } from '../rpc/dispatch.ts'
import { errorCode } from '../rpc/errors.ts'
import type { Json } from '../rpc/schema.ts'
import type { Session } from '../rpc/session.ts'
import { writeError } from '../rpc/wire.ts'
import { isAllowedHost, namesOf } from './hosts.ts'
import { acceptWebSockets, type WebSockets } from './websocket.ts'

export interface ServerOptions<C> {
  readonly dispatcher: Dispatcher<C>
  /** What the handlers of a request are given; `session` is the WebSocket it came by. */
  readonly makeContext: (session: Session | undefined) => C
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Names in `Host` that are answered besides `host` and loopback's; `*` for any. */
  readonly allowHosts: readonly string[]
  /** Bytes of a request's body, and of a WebSocket message. */
  readonly bodyLimit: number
  /** What `GET /` and `GET /health` answer. */
  readonly info: () => Json
  readonly timeouts?: Partial<Timeouts>
}

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  /** Headers and body. */
  readonly requestMs: number
  /** Between two requests of one connection. */
  readonly idleMs: number
}

/** Where a server listens, and how to end it. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  /** Ends every connection at once. */
  readonly close: () => Promise<void>
}

const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 60_000, idleMs: 120_000 }

/** Bytes of all headers of a request. */
const MAX_HEADER_BYTES = 16_384

const MAX_CONNECTIONS = 10_000

const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
} as const

/**
 * Starts to listen.
 * @throws the system's error when the port cannot be had; its `code` is `EADDRINUSE` when it is taken.
 */
export async function startServer<C>(options: ServerOptions<C>): Promise<RunningServer> {
  const { headersMs, requestMs, idleMs } = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
  const http = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
    noDelay: true,
  })
  http.maxConnections = MAX_CONNECTIONS
  const handle = handlerOf(options)
  http.on('request', (request, response) => void handle(request, response))
  const sockets = acceptWebSockets(http, options)
  await listen(http, options)
  const { port } = http.address() as AddressInfo
  const name = options.host.includes(':') ? `[${options.host}]` : options.host
  return { url: `http://${name}:${port}`, port, close: () => close(http, sockets) }
}

function listen(http: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen({ host, port }, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

async function close(http: Server, sockets: WebSockets): Promise<void> {
  sockets.close()
  const closed = new Promise<void>((resolve) => http.close(() => resolve()))
  http.closeAllConnections()
  await closed
}

function handlerOf<C>(
  options: ServerOptions<C>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const context = options.makeContext
  return async (request, response) => {
    const { host } = request.headers
    if (!isAllowedHost(host, namesOf(options.host, options.allowHosts, host))) {
      return refuse(
        response,
        403,
        `the host "${host}" is not allowed: start with --allow-host ${host}`,
      )
    }
    if (request.method === 'OPTIONS') return preflight(request, response)
    if (request.method === 'GET' || request.method === 'HEAD')
      return greet(request, response, options)
    if (request.method !== 'POST') {
      return refuse(response, 405, `${request.method} is not served: POST a JSON-RPC request`)
    }
    const body = await readBody(request, options.bodyLimit)
    if (body === 'gone') return
    if (body === 'too large') {
      return refuse(
        response,
        413,
        `the request's body is over the limit of ${options.bodyLimit} bytes`,
      )
    }
    // each request has a context of its own: whether a server listens is asked anew
    const reply = await options.dispatcher.dispatch(context(undefined), body)
    if (reply === undefined) response.writeHead(204, CORS_HEADERS).end()
    else send(response, 200, reply)
  }
}

/** What came of reading: the bytes, or why there are none. */
type Body = Uint8Array | 'too large' | 'gone'

function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return resolve('too large')
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        request.pause()
        resolve('too large')
      } else chunks.push(chunk)
    })
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    )
    // half-sent: the connection broke, or the time was up; nobody is left to reply to
    request.once('close', () => resolve('gone'))
    request.once('error', () => resolve('gone'))
  })
}

function preflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  response
    .writeHead(204, { ...CORS_HEADERS, 'access-control-allow-headers': asked ?? 'content-type' })
    .end()
}

/** Tells browsers and readiness probes that the chain is there. */
function greet<C>(
  request: IncomingMessage,
  response: ServerResponse,
  { info }: ServerOptions<C>,
): void {
  const path = request.url?.split('?')[0] ?? '/'
  if (path === '/' || path === '/health') send(response, 200, JSON.stringify(info()))
  else refuse(response, 404, `GET ${path} is not served: GET / tells of the chain, POST calls it`)
}

/** Says why a request was not taken, and ends the connection: what is left of the request is not read. */
function refuse(response: ServerResponse, status: number, message: string): void {
  response.setHeader('connection', 'close')
  const word = status === 413 ? 'LIMIT_EXCEEDED' : 'INVALID_REQUEST'
  send(response, status, writeError(null, { code: errorCode(word), message }))
}

/** One write: head and body together. */
function send(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, {
      ...CORS_HEADERS,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
