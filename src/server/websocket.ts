// JSON-RPC over WebSocket, on the port of the HTTP server: sessions that may be told of things unasked.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import type { Dispatcher } from '../rpc/dispatch.ts'
import type { Json } from '../rpc/schema.ts'
import type { Session } from '../rpc/session.ts'
import { isAllowedHost, namesOf } from './hosts.ts'

export interface WebSocketOptions<C> {
  readonly dispatcher: Dispatcher<C>
  readonly makeContext: (session: Session | undefined) => C
  readonly host: string
  readonly allowHosts: readonly string[]
  readonly bodyLimit: number
}

export interface WebSockets {
  /** Ends every session. */
  readonly close: () => void
}

const MAX_SESSIONS = 1_000

/** Bytes that may wait to be sent to one client; a slower one is cut off. */
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024

/** Messages of one client that may wait to be answered; beyond it, its socket is not read. */
const MAX_WAITING = 1_000

/** The close code for a client that does not keep up (RFC 6455: policy violation). */
const TOO_SLOW = 1008

/** Takes the server's upgrade requests. */
export function acceptWebSockets<C>(http: Server, options: WebSocketOptions<C>): WebSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.bodyLimit,
    perMessageDeflate: false,
  })
  let nextId = 1
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { host } = request.headers
    socket.on('error', () => socket.destroy())
    if (!isAllowedHost(host, namesOf(options.host, options.allowHosts, host))) {
      return socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
    }
    if (server.clients.size >= MAX_SESSIONS) {
      return socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n')
    }
    server.handleUpgrade(request, socket, head, (client) => serve(client, nextId++, options))
  })
  return {
    close: () => {
      for (const client of server.clients) {
        client.close(1001, 'devchain is stopping')
        client.terminate()
      }
      server.close()
    },
  }
}

/** Answers the messages of one client in their order. */
function serve<C>(
  client: WebSocket,
  id: number,
  { dispatcher, makeContext }: WebSocketOptions<C>,
): void {
  const session = sessionOf(client, id)
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  client.on('message', (message: RawData) => {
    if (++waiting > MAX_WAITING) client.pause()
    last = last.then(async () => {
      const reply = await dispatcher.dispatch(makeContext(session), bytesOf(message))
      if (reply !== undefined) send(client, reply)
      if (--waiting <= MAX_WAITING && client.isPaused) client.resume()
    })
  })
  // ws reports frames that break the protocol or the limit here, and closes with the fitting code by itself
  client.on('error', () => client.close())
}

function sessionOf(client: WebSocket, id: number): Session {
  const listeners = new Set<() => void>()
  client.once('close', () => {
    for (const listener of listeners) listener()
    listeners.clear()
  })
  return {
    id,
    notify: (method: string, params: Json) => {
      send(client, JSON.stringify({ jsonrpc: '2.0', method, params }))
    },
    onClose: (listener) => {
      if (client.readyState === WebSocket.CLOSED) listener()
      else listeners.add(listener)
    },
  }
}

function send(client: WebSocket, text: string): void {
  if (client.readyState !== WebSocket.OPEN) return
  if (client.bufferedAmount > MAX_BACKLOG_BYTES) {
    client.close(TOO_SLOW, 'too many bytes wait to be read')
    client.terminate()
    return
  }
  client.send(text)
}

function bytesOf(message: RawData): Uint8Array {
  if (Array.isArray(message)) return Buffer.concat(message)
  return message instanceof ArrayBuffer ? new Uint8Array(message) : message
}
