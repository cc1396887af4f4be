// JSON-RPC over WebSocket on the port of the HTTP server, with sessions that get notifications.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { ERROR_CODES } from '../core/errors.ts'
import { yielder } from '../core/yield.ts'
import type { JsonText } from '../rpc/jsontext.ts'
import { Caller, type Session } from '../rpc/session.ts'
import { idIn, writeError } from '../rpc/wire.ts'
import {
  type EndSession,
  type HttpOptions,
  isRefusal,
  type LinkDoor,
  pathOf,
  readTarget,
  type Target,
} from './answer.ts'
import { isOwnPage } from './callers.ts'
import { Outbox, Turns } from './outbox.ts'
import type { Refusal } from './replies.ts'

export interface WebSockets {
  /** True for a session's socket. */
  readonly has: (socket: Duplex) => boolean
  /** Ends every session with a close frame, and forcibly after 40 ms. */
  readonly close: () => Promise<void>
}

const MAX_SESSIONS = 1_000

/** Queued messages of one client above which its socket is not read. */
const MAX_WAITING = 1_000

/** Bytes of unsent replies above which the client's next message waits. */
const HIGH_WATER_BYTES = 1024 * 1024

/** Bytes of one reply; many clients accept no larger messages. */
const MAX_REPLY = 100_000_000

/** Milliseconds for clients to close when the server stops. */
const GOODBYE_MS = 40

/** Bytes of a reason in a close frame. */
const MAX_REASON = 123

/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const TOO_LARGE = 1009

const FULL: Refusal = { status: 503, message: `over ${MAX_SESSIONS} WebSocket sessions are open` }

/**
 * Handles the server's upgrade requests.
 * @param end sends a refusal and ends the socket
 */
export function acceptWebSockets(
  http: Server,
  options: HttpOptions,
  end: (socket: Duplex, refusal: Refusal) => void,
): WebSockets {
  const { answer, checkCaller, front, onBug } = options
  const server = new WebSocketServer({
    noServer: true,
    // up to here, a message that is too large gets an error; beyond, ws disconnects the client
    maxPayload: 2 * options.bodyLimit,
    perMessageDeflate: false,
    // the dispatcher checks it
    skipUTF8Validation: true,
  })
  const sockets = new Set<Duplex>()
  const turns = new Turns()
  let nextId = 1
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      return replay(http, request, socket, head)
    }
    socket.on('error', () => socket.destroy())
    readTarget(request)
    const refusal =
      checkCaller(request.headers) ?? (server.clients.size < MAX_SESSIONS ? undefined : FULL)
    if (refusal !== undefined) return end(socket, refusal)
    const path = pathOf(request.url ?? '/')
    const { links } = front
    if (links !== undefined && path === links.path) {
      void takeLink(links, request, socket, head)
        .then((refused) => refused && end(socket, refused))
        .catch(onBug)
      return
    }
    const target = front.targetOf(path)
    if (isRefusal(target)) return end(socket, target)
    server.handleUpgrade(request, socket, head, (client) => {
      sockets.add(socket)
      const endSession: EndSession = (reason) =>
        client.close(GOING_AWAY, reason.replace(/[^ -~]/g, '?').slice(0, MAX_REASON))
      target.sessions.add(endSession)
      socket.once('close', () => {
        sockets.delete(socket)
        target.sessions.delete(endSession)
      })
      const outbox = new Outbox(client, socket, turns, options)
      const facts = { id: nextId++, isPage: isOwnPage(request.headers) }
      const session = sessionOf(client, facts, outbox)
      serve(client, session, outbox, (...message) => answer(target, ...message), options)
    })
  })
  return { has: (socket) => sockets.has(socket), close: () => close(server) }
}

/** @returns the refusal of a link */
async function takeLink(
  links: LinkDoor,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<Refusal | undefined> {
  // otherwise any web page could talk to this machine's nodes
  const isPage = request.headers.origin !== undefined
  const message = isPage ? 'web pages may not open links' : await links.take(request, socket, head)
  return message === undefined ? undefined : { status: 403, message }
}

/**
 * Answers a request that offers another protocol (HTTP/2, as Java's client does) as if it did not. Node emits an upgrade
 * for any such offer, so the head is rewritten and put back.
 */
function replay(http: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (!/^(connection|upgrade|http2-settings)$/i.test(name))
      lines.push(`${name}: ${rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  http.emit('connection', socket)
}

async function close(server: WebSocketServer): Promise<void> {
  const clients = [...server.clients]
  const gone = Promise.all(
    clients.map((client) => new Promise((resolve) => client.once('close', resolve))),
  )
  for (const client of clients) client.close(GOING_AWAY, 'devchain is stopping')
  const timer = setTimeout(() => {
    for (const client of clients) client.terminate()
  }, GOODBYE_MS)
  await gone
  clearTimeout(timer)
}

function serve(
  client: WebSocket,
  session: Session,
  outbox: Outbox,
  answer: Target['answer'],
  { bodyLimit, heapTrimmer }: HttpOptions,
): void {
  const caller = new Caller(session)
  client.once('close', () => caller.hangUp())
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let isAnswering = false
  const isFull = (): boolean => waiting.length > MAX_WAITING || waitingBytes > bodyLimit
  const answerAll = async (): Promise<void> => {
    isAnswering = true
    const yieldIfDue = yielder()
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      waitingBytes -= message.length
      if (client.isPaused && !isFull()) client.resume()
      if (message.length > bodyLimit) return refuse(client, bodyLimit)
      const reply = await answer(caller, message)
      if (reply !== undefined) {
        const text = typeof reply === 'string' ? reply : await inOneMessage(reply, message)
        heapTrimmer.note(text.length)
        await send(client, text)
      }
      outbox.release()
      const pause = waiting.length > 0 ? yieldIfDue() : undefined
      if (pause !== undefined) await pause
    }
    isAnswering = false
  }
  // one Buffer, as no other `binaryType` is set
  client.on('message', (message: Buffer) => {
    if (client.readyState !== WebSocket.OPEN) return
    waiting.push(message)
    waitingBytes += message.length
    if (isFull()) client.pause()
    if (!isAnswering) void answerAll()
  })
  // ws reports protocol and limit violations here, and closes with the right code by itself
  client.on('error', () => client.close())
}

function sessionOf(
  client: WebSocket,
  facts: Pick<Session, 'id' | 'isPage'>,
  outbox: Outbox,
): Session {
  return {
    ...facts,
    notify: (method, notifications) => outbox.add(method, notifications),
    hold: () => outbox.hold(),
    cutOff: () => outbox.cutOff(),
    onClose: (listener) => {
      if (client.readyState === WebSocket.CLOSED) listener()
      else client.once('close', listener)
    },
  }
}

/**
 * Skipped if the client is gone.
 * @returns resolves when more may be sent
 */
async function send(client: WebSocket, text: string): Promise<void> {
  if (client.readyState !== WebSocket.OPEN) return
  if (client.bufferedAmount <= HIGH_WATER_BYTES) return client.send(text)
  await new Promise<void>((resolve) => {
    client.once('close', resolve)
    client.send(text, () => {
      client.off('close', resolve)
      resolve()
    })
  })
}

/** A long reply as one message, or an error if it is too long. */
async function inOneMessage(reply: JsonText, request: Uint8Array): Promise<string> {
  const id = idIn(request)
  if (reply.size > MAX_REPLY) {
    const message = `the reply has ${reply.size} bytes, over the WebSocket limit of ${MAX_REPLY}: use HTTP`
    return writeError(id, { code: ERROR_CODES.LIMIT_EXCEEDED, message })
  }
  try {
    return await reply.text(MAX_REPLY)
  } catch (error) {
    // the thread that has the reply ended
    return writeError(id, { code: ERROR_CODES.CANCELLED, message: (error as Error).message })
  }
}

/** Refuses a message that is too large, and closes: the error has no id, so the client would wait forever. */
function refuse(client: WebSocket, limit: number): void {
  const message = `the message is over the limit of ${limit} bytes`
  client.send(writeError(null, { code: ERROR_CODES.LIMIT_EXCEEDED, message }))
  client.close(TOO_LARGE, message)
}
