// JSON-RPC and WebSockets over node's HTTP server. It can serve everything.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Reply } from '../rpc/dispatch.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { Site, SiteHead, SiteReply } from '../rpc/site.ts'
import { writeError } from '../rpc/wire.ts'
import {
  type HttpOptions,
  type HttpServer,
  idleCheckMs,
  isRefusal,
  pathOf,
  readTarget,
  type Timeouts,
} from './answer.ts'
import { Connection } from './connection.ts'
import { decodeBody, encodingsOf, refusalOfEncodings } from './encoding.ts'
import type { HeapTrimmer } from './heaptrimmer.ts'
import {
  brokenOff,
  CORS_HEADERS,
  MAX_PIPELINED,
  PREFLIGHT_HEADERS,
  type Refusal,
  refuse,
  send,
  sendLong,
  tooManyPipelined,
} from './replies.ts'
import { acceptWebSockets } from './websocket.ts'

const MAX_HEADER_BYTES = 16_384

/** `httpAllowHalfOpen` is missing in node's types: a client that closes its side still gets its replies. */
type HalfOpenServer = Server & { httpAllowHalfOpen: boolean }

export function createNodeHttp(options: HttpOptions): HttpServer {
  const http = createHttpServer(options.timeouts)
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
  // before all other listeners
  for (const event of ['request', 'checkContinue']) http.on(event, readTarget)
  handleRequests(http, options, connections)
  const end = (socket: Duplex, refusal: Refusal): void => connections.get(socket)?.end(refusal)
  const sockets = acceptWebSockets(http, options, end)
  // node starts its request timeouts on this event
  http.emit('listening')
  return {
    take: (socket) => void http.emit('connection', socket),
    close: async () => {
      // it never listened; this only ends the timeouts
      http.close(() => undefined)
      for (const socket of connections.keys()) {
        if (!sockets.has(socket)) socket.destroy()
      }
      await sockets.close()
    },
  }
}

function createHttpServer({ headersMs, requestMs, idleMs }: Timeouts): Server {
  const http = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: idleCheckMs({ headersMs, requestMs, idleMs }),
    requireHostHeader: false,
  })
  ;(http as HalfOpenServer).httpAllowHalfOpen = true
  return http
}

/** Maps errors of node's parser or timers to refusals. */
function refusalOf({ code, message }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        message: `the request's headers are over the limit of ${MAX_HEADER_BYTES} bytes`,
      }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, message: "the request's chunk extensions are over the limit" }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'the request was not complete in time' }
    case 'HPE_INVALID_EOF_STATE':
      return brokenOff
    default:
      return { status: 400, message: `expected an HTTP request: ${message}` }
  }
}

function notServed({ method, url = '/' }: IncomingMessage): Refusal {
  const [path] = url.split('?', 1)
  const message = `GET ${path} is not supported: GET / describes the chain, POST calls it`
  if (method === 'GET' || method === 'HEAD') return { status: 404, message }
  return { status: 405, message: `${method} is not supported: POST a JSON-RPC request` }
}

function handleRequests(
  http: Server,
  options: HttpOptions,
  connections: ReadonlyMap<Duplex, Connection>,
): void {
  const { front, checkCaller, bodyLimit } = options
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket)
    if (connection === undefined || connection.isEnding) return
    connection.begin(response)
    const { method, headers } = request
    const refusal = checkCaller(headers)
    const head = siteHeadOf(request)
    const site = head && front.sites.find(({ owns }) => owns(head))
    if (refusal !== undefined) refuse(response, refusal)
    else if (head !== undefined && site !== undefined)
      void visit(response, connection, options, site, head)
    else if (method === 'POST') void post(response, connection, options)
    else if (method === 'OPTIONS') preflight(response)
    else refuse(response, notServed(request))
  }
  http.on('request', handle)
  http.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    connections.get(request.socket)?.begin(response)
    refuse(response, { status: 417, message: 'the only supported expectation is "100-continue"' })
  })
  http.on('connect', (request: IncomingMessage, socket: Duplex) => {
    connections.get(socket)?.end(notServed(request))
  })
  http.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const isTaken = checkCaller(request.headers) === undefined
    if (isTaken && declaredLength(request) <= bodyLimit) response.writeContinue()
    handle(request, response)
  })
}

async function post(
  response: ServerResponse,
  connection: Connection,
  { front, answer, bodyLimit, heapTrimmer }: HttpOptions,
): Promise<void> {
  const target = front.targetOf(pathOf(response.req.url ?? '/'))
  if (isRefusal(target)) return refuse(response, target)
  await withBody(response, connection, bodyLimit, async (body) =>
    reply(response, await answer(target, connection.caller, body), heapTrimmer),
  )
}

/** Answers a request once its body is read, unless it is refused or too many wait. */
async function withBody(
  response: ServerResponse,
  connection: Connection,
  bodyLimit: number,
  answered: (body: Uint8Array) => Promise<void>,
): Promise<void> {
  if (connection.waiting >= MAX_PIPELINED) return refuse(response, tooManyPipelined)
  connection.waiting++
  const body = await readPost(response.req, bodyLimit)
  if (body !== 'gone' && !response.headersSent) {
    if (body instanceof Uint8Array) await answered(body)
    else refuse(response, body)
  }
  connection.waiting--
}

async function reply(
  response: ServerResponse,
  body: Reply,
  heapTrimmer: HeapTrimmer,
): Promise<void> {
  if (body === undefined) response.writeHead(204, CORS_HEADERS).end()
  else if (typeof body === 'string') send(response, 200, body)
  else await sendLong(response, body)
  heapTrimmer.note(typeof body === 'string' ? body.length : (body?.size ?? 0))
}

function siteHeadOf({ method = '', url = '/', headers }: IncomingMessage): SiteHead | undefined {
  if (!['GET', 'HEAD', 'POST'].includes(method)) return undefined
  const asked = method === 'POST' ? 'POST' : 'GET'
  const { accept = '', host = '', origin } = headers
  const isOther = /^(cross|same)-site$/.test(String(headers['sec-fetch-site']))
  return { method: asked, target: url, accept, host, isFromOtherPage: isOther && !origin }
}

async function visit(
  response: ServerResponse,
  connection: Connection,
  { bodyLimit, onBug }: HttpOptions,
  site: Site,
  head: SiteHead,
): Promise<void> {
  await withBody(response, connection, bodyLimit, async (body) => {
    const contentType = response.req.headers['content-type'] ?? ''
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const isThere = (): Promise<boolean> => connection.isThere()
    const asked = site.answer({ ...head, contentType, body, gone: gone.signal, isThere })
    const reply = await asked.catch((error: unknown) => failureOf(error, onBug))
    send(response, reply.status, reply.body, reply.headers, reply.contentType)
  })
}

function failureOf(error: unknown, onBug: (error: unknown) => void): SiteReply {
  const body = writeError(null, errorObjectOf(error, onBug))
  return { status: 500, contentType: 'application/json', body }
}

async function readPost(
  request: IncomingMessage,
  limit: number,
): Promise<Uint8Array | Refusal | 'gone'> {
  const encodings = encodingsOf(request.headers['content-encoding'])
  const unread = refusalOfEncodings(encodings)
  if (unread !== undefined) return unread
  const body = await readBody(request, limit)
  if (body === 'gone') return body
  if (body !== 'too large') return await decodeBody(body, encodings, limit)
  return { status: 413, message: `the request's body is over the limit of ${limit} bytes` }
}

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
    // half-sent: the connection broke or timed out, so there is no client to reply to
    request.once('close', () => resolve('gone'))
    request.once('error', () => resolve('gone'))
  })
}

/** Bytes of the body by its headers; 0 for chunked bodies. */
function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}

function preflight(response: ServerResponse): void {
  const asked = response.req.headers['access-control-request-headers']
  const headers = { ...PREFLIGHT_HEADERS, 'access-control-allow-headers': asked ?? 'content-type' }
  response.writeHead(204, headers).end()
}
