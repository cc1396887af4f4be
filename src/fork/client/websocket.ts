// Carries requests over a WebSocket, each in a message of its own: services limit batches there, or refuse them.
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { jsonIn } from '../../core/objects.ts'
import { type HttpResponse, MOST_BYTES, readResponse, TOO_LONG } from '../../rpc/post.ts'
import { answerOf, idOf, repliesOf } from './http.ts'
import type { Provider, UpstreamReply, UpstreamRequest } from './provider.ts'
import { type Endpoint, endpointOf, type Headers, isPrivateUrl } from './urls.ts'
import { inTime } from './waitbudget.ts'

/** Requests of one `send`: with those of parallel ones, fewer than services accept of one connection. */
const MOST_AT_ONCE = 20

const OPTIONS = {
  maxPayload: MOST_BYTES,
  // milliseconds in which a server disconnects after its close frame
  closeTimeout: 500,
} as const

/** The state of a socket that got a close frame. */
const CLOSING = 2

/** Close codes that no server sends. */
const NO_CODES = new Set([1005, 1006])

/** @throws {DevchainError} `INVALID_PARAMS` for an invalid URL */
export function webSocketProvider(url: string, given: Headers = {}): Provider {
  const endpoint = endpointOf(url, given)
  let last: Connection | undefined
  let nextId = 1
  const open = (): Connection => {
    if (last === undefined || last.isOver) last = new Connection(endpoint)
    return last
  }
  const post = async (id: number, body: string, timeoutMs: number): Promise<HttpResponse> => {
    const used = open()
    const isFresh = used.heard === 0
    try {
      return await used.post(id, body, timeoutMs)
    } catch (error) {
      // a connection that closed as it was reused says nothing about the server: try a fresh one at once
      if (isFresh || !used.isLost) throw error
      return open().post(id, body, timeoutMs)
    }
  }
  const answer = async (ask: UpstreamRequest, timeoutMs: number): Promise<UpstreamReply> => {
    const id = nextId++
    const body = JSON.stringify({ jsonrpc: '2.0', id, ...ask })
    const response = await answerOf(() => post(id, body, timeoutMs), timeoutMs, endpoint)
    return repliesOf(response, [ask], endpoint, id)[0]!
  }
  return {
    name: endpoint.where,
    mostAtOnce: MOST_AT_ONCE,
    send: (asks, timeoutMs) => Promise.all(asks.map((ask) => answer(ask, timeoutMs))),
    close: () => last?.fail(new Error('closed')),
  }
}

class Connection {
  /** Messages that came. */
  heard = 0
  /** True: the server closed it. */
  isLost = false
  readonly #opened: Promise<WebSocket>
  readonly #waiting = new Map<number, (answer: HttpResponse | Promise<HttpResponse>) => void>()
  #socket: WebSocket | undefined
  #stream: Socket | undefined
  #isEnded = false

  constructor(endpoint: Endpoint) {
    this.#opened = new Promise((resolve) => {
      this.#open(endpoint, resolve).catch(this.fail)
    })
  }

  get isOver(): boolean {
    return this.#isEnded || this.#socket?.readyState === CLOSING
  }

  /** As `Poster` does. A refused handshake is the response to all. */
  async post(id: number, body: string, timeoutMs: number): Promise<HttpResponse> {
    const { heard } = this
    this.#stream?.ref()
    void this.#opened.then((socket) => socket.send(body))
    try {
      const answer = new Promise<HttpResponse>((resolve) => this.#waiting.set(id, resolve))
      const inside = await inTime(answer, timeoutMs)
      if (inside !== undefined) return inside
      const late = new DOMException('', 'TimeoutError')
      // the connection may be dead
      if (this.heard === heard) this.fail(late)
      throw late
    } finally {
      this.#waiting.delete(id)
      // an idle connection does not keep the process alive
      if (this.#waiting.size === 0) this.#stream?.unref()
    }
  }

  readonly fail = (error: Error): void => this.#end(Promise.reject(error))

  #end(answer: Promise<HttpResponse>): void {
    answer.catch(() => undefined)
    if (this.#isEnded) return
    this.#isEnded = true
    this.#socket?.terminate()
    for (const resolve of this.#waiting.values()) resolve(answer)
  }

  async #open({ url, headers }: Endpoint, resolve: (socket: WebSocket) => void): Promise<void> {
    const { WebSocket } = await import('ws')
    if (this.#isEnded) return
    // on a local node, compression costs time and saves none
    const perMessageDeflate = !isPrivateUrl(url.href)
    const socket = new WebSocket(url, { ...OPTIONS, headers, perMessageDeflate })
    this.#socket = socket
    socket.on('upgrade', ({ socket: stream }) => {
      this.#stream = stream
    })
    socket.on('unexpected-response', (_, response) => {
      readResponse(response, url).then((refusal) => this.#end(Promise.resolve(refusal)), this.fail)
    })
    socket.on('open', () => resolve(socket))
    socket.on('message', (data) => this.#take(String(data)))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isTooLong = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
      this.fail(isTooLong ? new Error(TOO_LONG) : error)
    })
    socket.on('close', (code, reason) => {
      this.isLost = !this.#isEnded
      this.fail(
        new Error(`it closed the connection${NO_CODES.has(code) ? '' : `: ${code} ${reason}`}`),
      )
    })
  }

  #take(text: string): void {
    this.heard += 1
    const json = jsonIn(text)
    const id = idOf(json)
    const answer = { status: 200, text, retryAfter: undefined, json }
    // what names no request concerns all; what comes after its timeout concerns none
    const concerned = id === undefined ? [...this.#waiting.values()] : [this.#waiting.get(id)]
    for (const resolve of concerned) resolve?.(answer)
  }
}
