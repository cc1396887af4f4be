// The server: JSON-RPC over HTTP and WebSocket on one port, on any path.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from '../rpc/dispatch.ts'
import type { Json } from '../rpc/schema.ts'
import type { Caller } from '../rpc/session.ts'
import { Connection } from './connection.ts'
import { createHostCheck, type HostCheck } from './hosts.ts'
import { CORS_HEADERS, type Refusal, refuse, send, sendLong } from './replies.ts'
import { acceptWebSockets, type WebSockets } from './websocket.ts'

export interface ServerOptions<C> {
  readonly dispatcher: Dispatcher<C>
  /** What the handlers of a request are given; `caller` is the connection that it came by. */
  readonly makeContext: (caller: Caller) => C
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

/** Requests of one connection that may wait for their replies. */
const MAX_PIPELINED = 1_000

/** After so much silence the system asks whether the other machine is still there. */
const KEEP_ALIVE_PROBE_MS = 30_000

/** `httpAllowHalfOpen` is node's own, but not in its types: a client that says "no more requests" gets its replies. */
type HalfOpenServer = Server & { httpAllowHalfOpen: boolean }

/**
 * Starts to listen.
 * @throws the system's error when the port cannot be had; its `code` is `EADDRINUSE` when it is taken.
 */
export async function startServer<C>(options: ServerOptions<C>): Promise<RunningServer> {
  const http = createHttpServer({ ...DEFAULT_TIMEOUTS, ...options.timeouts })
  const connections = new Map<Duplex, Connection>()
  http.on('connection', (socket) => {
    connections.set(socket, new Connection(socket))
    socket.once('close', () => connections.delete(socket))
  })
  http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket)
    if (connection === undefined || error.code === 'ECONNRESET') socket.destroy()
    else connection.end(refusalOf(error))
  })
  const checkHost = createHostCheck(options.host, options.allowHosts)
  handleRequests(http, options, connections, checkHost)
  const end = (socket: Duplex, refusal: Refusal): void => connections.get(socket)?.end(refusal)
  const sockets = acceptWebSockets(http, options, { checkHost, end })
  await listen(http, options)
  const { port } = http.address() as AddressInfo
  const name = options.host.includes(':') ? `[${options.host}]` : options.host
  const url = `http://${name}:${port}`
  return { url, port, close: () => close(http, connections, sockets) }
}

function createHttpServer({ headersMs, requestMs, idleMs }: Timeouts): Server {
  const http = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
    noDelay: true,
    // Finds machines that are gone. WebSocket pings would do, but would cut a client that waits at a breakpoint.
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    requireHostHeader: false,
  })
  http.maxConnections = MAX_CONNECTIONS
  ;(http as HalfOpenServer).httpAllowHalfOpen = true
  return http
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

async function close(
  http: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  sockets: WebSockets,
): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()))
  for (const socket of connections.keys()) {
    if (!sockets.has(socket)) socket.destroy()
  }
  await sockets.close()
  await closed
}

/** Why a connection is ended, by what node's parser or its timer says of it. */
function refusalOf({ code, message }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return tooLarge(431, `the request's headers are over the limit of ${MAX_HEADER_BYTES} bytes`)
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return tooLarge(413, "the request's chunk extensions are over the limit")
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return invalid(408, 'the request did not come to its end in time')
    case 'HPE_INVALID_EOF_STATE':
      return invalid(400, 'the request broke off before its end')
    default:
      return invalid(400, `expected an HTTP request: ${message}`)
  }
}

function invalid(status: number, message: string): Refusal {
  return { status, word: 'INVALID_REQUEST', message }
}

function tooLarge(status: number, message: string): Refusal {
  return { status, word: 'LIMIT_EXCEEDED', message }
}

function handleRequests<C>(
  http: Server,
  options: ServerOptions<C>,
  connections: ReadonlyMap<Duplex, Connection>,
  checkHost: HostCheck,
): void {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket)
    if (connection === undefined || connection.isEnding) return
    connection.begin(response)
    const wrongHost = checkHost(request.headers.host)
    if (wrongHost !== undefined) refuse(response, wrongHost)
    else if (request.method === 'POST') void answer(request, response, connection, options)
    else if (request.method === 'OPTIONS') preflight(request, response)
    else if (request.method === 'GET' || request.method === 'HEAD')
      greet(request, response, options)
    else refuse(response, invalid(405, `${request.method} is not served: POST a JSON-RPC request`))
  }
  http.on('request', handle)
  http.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const isHere = checkHost(request.headers.host) === undefined
    if (isHere && declaredLength(request) <= options.bodyLimit) response.writeContinue()
    handle(request, response)
  })
}

/** Answers a POST: the only thing that most clients do. */
async function answer<C>(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  { dispatcher, makeContext, bodyLimit }: ServerOptions<C>,
): Promise<void> {
  if (connection.waiting >= MAX_PIPELINED) {
    const message = `at most ${MAX_PIPELINED} requests of a connection may wait for their replies`
    return refuse(response, tooLarge(503, message))
  }
  connection.waiting++
  const body = await readBody(request, bodyLimit)
  if (body === 'too large') {
    const message = `the request's body is over the limit of ${bodyLimit} bytes`
    refuse(response, tooLarge(413, message))
  } else if (body !== 'gone' && !response.headersSent) {
    // each request has a context of its own: whether a server listens is asked anew
    const reply = await dispatcher.dispatch(makeContext(connection.caller), body)
    if (reply === undefined) response.writeHead(204, CORS_HEADERS).end()
    else if (typeof reply === 'string') send(response, 200, reply)
    else await sendLong(response, reply)
  }
  connection.waiting--
}

/** What came of reading: the bytes, or why there are none. */
type Body = Uint8Array | 'too large' | 'gone'

function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    if (declaredLength(request) > limit) return resolve('too large')
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else {
        chunks.length = 0
        resolve('too large')
      }
    })
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    )
    // half-sent: the connection broke, or the time was up; nobody is left to reply to
    request.once('close', () => resolve('gone'))
    request.once('error', () => resolve('gone'))
  })
}

/** Bytes of the body, as far as the headers tell; 0 where they come in chunks. */
function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
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
  const path = request.url?.split('?', 1)[0] ?? '/'
  if (path === '/' || path === '/health') send(response, 200, JSON.stringify(info()))
  else {
    const message = `GET ${path} is not served: GET / tells of the chain, POST calls it`
    refuse(response, invalid(404, message))
  }
}
