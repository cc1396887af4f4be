// The server: JSON-RPC over HTTP and WebSocket on one port, and sites beside it.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { DevchainSettings } from '../options/derived.ts'
import type { Front, HttpOptions, HttpServer, Timeouts } from './answer.ts'
import { createHostCheck } from './hosts.ts'
import { createFastHttp } from './http/fasthttp.ts'
import { createOriginCheck } from './origins.ts'
import { Relief } from './relief.ts'

/** Bytes of `bodyLimit`: of a request's body, and of a WebSocket message. */
export interface ServerOptions
  extends Pick<DevchainSettings, 'host' | 'port' | 'allowHost' | 'allowOrigin' | 'bodyLimit'> {
  readonly front: Front
  /** Told of each request that is refused for its `Host`: the header. */
  readonly onForeignHost?: ((header: string) => void) | undefined
  /** Told of each foreign origin whose pages call, once, in a sentence. */
  readonly onNotice?: ((text: string) => void) | undefined
  readonly timeouts?: Partial<Timeouts>
  /** Told of whatever targets and sites throw; their callers are told "internal error". */
  readonly onBug: (error: unknown) => void
  /** True: no accelerator stands before node's own HTTP server. Tests hold the two against each other. */
  readonly isPlain?: boolean | undefined
}

/** Where a server listens, and how to end it. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  /** Ends every connection at once. */
  readonly close: () => Promise<void>
}

const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 120_000,
  stallMs: 5_000,
}

const MAX_CONNECTIONS = 10_000

/** After so much silence the system asks whether the other machine is still there. */
const KEEP_ALIVE_PROBE_MS = 30_000

/**
 * Starts to listen.
 * @throws the system's error when the port cannot be had; its `code` is `EADDRINUSE` when it is taken.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, allowHost, allowOrigin, onForeignHost, onNotice, isPlain = false } = options
  const checkHost = createHostCheck(host, allowHost, onForeignHost)
  const checkOrigin = createOriginCheck(allowOrigin, onNotice)
  const relief = new Relief()
  const httpOptions: HttpOptions = {
    ...options,
    relief,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    checkCaller: (headers) => checkHost(headers.host) ?? checkOrigin(headers.origin),
  }
  let http = createLateHttp(httpOptions)
  // An accelerator: without this line node's HTTP server answers everything.
  if (!isPlain) http = createFastHttp(httpOptions, http)
  const server = createNetServer(http)
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    relief.close()
    await http.close()
    await closed
  }
  return { url: `http://${name}:${port}`, port, close }
}

/** Node's HTTP server, loaded when a connection needs it: with WebSockets that would be a tenth of a start. */
function createLateHttp(options: HttpOptions): HttpServer {
  let loaded: Promise<HttpServer> | undefined
  const take = (socket: Socket): void => {
    loaded ??= import('./nodehttp.ts').then(({ createNodeHttp }) => createNodeHttp(options))
    const onError = (): void => void socket.destroy()
    socket.once('error', onError)
    void loaded.then((http) => {
      socket.off('error', onError)
      if (socket.destroyed) return
      http.take(socket)
      socket.resume()
    })
  }
  return { take, close: async () => await (await loaded)?.close() }
}

function createNetServer(http: HttpServer): Server {
  const server = createServer(
    {
      // a client that sends no more may wait for its replies
      allowHalfOpen: true,
      noDelay: true,
      // Finds machines that are gone. WebSocket pings would do, but would cut a client that waits at a breakpoint.
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    },
    (socket) => http.take(socket),
  )
  server.maxConnections = MAX_CONNECTIONS
  return server
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
