// The server: JSON-RPC over HTTP and WebSocket on one port, and sites.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { DevchainSettings } from '../options/derived.ts'
import { createSafeAnswer, type HttpOptions, type HttpServer, type Timeouts } from './answer.ts'
import { createHostCheck, createOriginCheck, isOwnPage } from './callers.ts'
import { HeapTrimmer } from './heaptrimmer.ts'
import { FastHttp } from './http/fasthttp.ts'

/** `bodyLimit` in bytes, for HTTP bodies and WebSocket messages. */
export interface ServerOptions
  extends Pick<DevchainSettings, 'host' | 'port' | 'allowHost' | 'allowOrigin' | 'bodyLimit'>,
    Pick<HttpOptions, 'front' | 'onBug'> {
  /** Called with each refused `Host` header. */
  readonly onForeignHost?: ((header: string) => void) | undefined
  /** Called with a sentence, once for each foreign origin. */
  readonly onNotice?: ((text: string) => void) | undefined
  readonly timeouts?: Partial<Timeouts>
  /** True: no accelerator in front of node's HTTP server. Tests compare the two. */
  readonly isPlain?: boolean | undefined
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 120_000,
  stallMs: 5_000,
}

const MAX_CONNECTIONS = 10_000

/** Idle milliseconds before TCP keep-alive probes. */
const KEEP_ALIVE_PROBE_MS = 30_000

/** @throws the system's error if the port is unavailable; its `code` is `EADDRINUSE` if it is taken */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, allowHost, allowOrigin, onForeignHost, onNotice, isPlain = false } = options
  const checkHost = createHostCheck(host, allowHost, onForeignHost)
  const checkOrigin = createOriginCheck(allowOrigin, onNotice)
  // the own page of a name that was rebound to this computer would be a foreign one
  const areHostsChecked = !allowHost.includes('*')
  const heapTrimmer = new HeapTrimmer()
  const httpOptions: HttpOptions = {
    ...options,
    heapTrimmer,
    answer: createSafeAnswer(options.onBug),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    checkCaller: (headers) =>
      checkHost(headers.host) ??
      (areHostsChecked && isOwnPage(headers) ? undefined : checkOrigin(headers.origin)),
  }
  let http = createLateHttp(httpOptions)
  // An accelerator: without this line node's HTTP server answers everything.
  if (!isPlain) http = new FastHttp(httpOptions, http)
  const server = createNetServer(http)
  server.listen({ host, port: options.port })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    heapTrimmer.close()
    await http.close()
    await closed
  }
  return { url: `http://${name}:${port}`, port, close }
}

/** Loads node's HTTP server on first use: with WebSockets it would take a tenth of the start. */
function createLateHttp(options: HttpOptions): HttpServer {
  let loaded: Promise<HttpServer> | undefined
  const take = (socket: Socket): void => {
    loaded ??= import('./nodehttp.ts').then(({ createNodeHttp }) => createNodeHttp(options))
    const onError = (): void => void socket.destroy()
    socket.once('error', onError)
    void loaded.then(
      (http) => {
        socket.off('error', onError)
        if (socket.destroyed) return
        http.take(socket)
        socket.resume()
      },
      (error: unknown) => {
        // the next connection tries again: all file descriptors may be in use now
        loaded = undefined
        socket.destroy()
        options.onBug(error)
      },
    )
  }
  const close = async (): Promise<void> => await (await loaded?.catch(() => undefined))?.close()
  return { take, close }
}

function createNetServer(http: HttpServer): Server {
  const server = createServer(
    {
      // a client that closes its side may still wait for replies
      allowHalfOpen: true,
      noDelay: true,
      // Finds machines that are gone. WebSocket pings would also cut off a client paused at a breakpoint.
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    },
    (socket) => http.take(socket),
  )
  server.maxConnections = MAX_CONNECTIONS
  return server
}
