// Links over WebSockets: dialed ones, and upgrades on the server's port.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { LINK_PATH } from '../../node/peers.ts'
import { MAX_MESSAGE } from '../protocol/messages.ts'
import type { Pipe, PipeListener, RemoteEnd } from '../protocol/pipe.ts'
import { plainAddress } from './addresses.ts'

const CONNECT_MS = 5_000

/** Bytes of memory that a chunk costs besides its own. */
const CHUNK_COST = 512

/** Bytes of the largest chunk that a read returns. */
const FULL_CHUNK = 2 ** 16

/** Bytes of an unfinished message that are not reported, as most messages are shorter. */
const UNCOUNTED = 2 ** 16

/** No compression, as peers are near; binary frames only. */
const OPTIONS = {
  maxPayload: MAX_MESSAGE,
  perMessageDeflate: false,
  // peers send each message whole
  maxFragments: 16,
  // do not wait for a peer that breaks the protocol
  closeTimeout: 500,
  skipUTF8Validation: true,
} as const

/**
 * @param url `ws://127.0.0.1:8546`
 * @throws the system's error if no node listens, or if it refuses links
 */
export function dial(url: string): Promise<Pipe> {
  const target = new URL(url)
  target.pathname = LINK_PATH
  return new Promise((resolve, reject) => {
    const client = new WebSocket(target, { ...OPTIONS, handshakeTimeout: CONNECT_MS })
    let stream: Duplex | undefined
    let remote: RemoteEnd = { address: target.hostname, port: Number(target.port) }
    client.once('upgrade', ({ socket }) => {
      stream = socket
      remote = remoteOf(socket)
    })
    client.once('error', reject)
    client.once('unexpected-response', (request, response) => {
      void refusalOf(response).then((reason) => {
        request.destroy()
        reject(new Error(reason))
      })
    })
    client.once('open', () => {
      client.off('error', reject)
      resolve(new SocketPipe(client, remote, stream))
    })
  })
}

const MAX_ANSWER = 1_000

/** The node's own words if it is a devchain. */
async function refusalOf(response: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const part of response.setEncoding('utf8')) {
      text += part
      if (text.length > MAX_ANSWER) break
    }
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } }
    if (typeof error?.message === 'string') return error.message
  } catch {
    // another server than a devchain
  }
  return `it responds with status ${response.statusCode} instead of a link`
}

const server = new WebSocketServer({ ...OPTIONS, noServer: true })

export function accept(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  then: (pipe: Pipe) => void,
): void {
  server.handleUpgrade(request, socket, head, (client) => {
    then(new SocketPipe(client, remoteOf(request.socket), socket))
  })
}

type Ends = Pick<IncomingMessage['socket'], 'remoteAddress' | 'remotePort'>

export function remoteOf({ remoteAddress = '', remotePort = 0 }: Ends): RemoteEnd {
  return { address: plainAddress(remoteAddress), port: remotePort }
}

class SocketPipe implements Pipe {
  readonly remote: RemoteEnd
  readonly #client: WebSocket
  readonly #stream: Duplex | undefined
  #partBytes = 0
  #isWanted = false
  #isResting = false
  unsent = 0
  #problem: string | undefined

  /** @param stream carries the frames */
  constructor(client: WebSocket, remote: RemoteEnd, stream: Duplex | undefined) {
    this.#client = client
    this.#stream = stream
    this.remote = remote
    // ws closes with the right code, and then emits `close`
    client.on('error', ({ message }) => {
      this.#problem = message
    })
    client.pause()
  }

  get unsentBytes(): number {
    return this.#client.bufferedAmount
  }

  send(message: Uint8Array): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    this.unsent += 1
    this.#client.send(message, () => {
      this.unsent -= 1
    })
  }

  close(): void {
    // ws does not report the end of a paused socket
    this.read(true)
    this.#client.close()
  }

  destroy(): void {
    this.#client.terminate()
  }

  read(wanted: boolean): void {
    this.#isWanted = wanted
    if (!wanted) this.#client.pause()
    else if (!this.#isResting) this.#client.resume()
  }

  /** Yields to other work: else up to 32 reads of one socket follow each other. */
  #rest(): void {
    if (this.#isResting) return
    this.#isResting = true
    this.#client.pause()
    setImmediate(() => {
      this.#isResting = false
      if (this.#isWanted) this.#client.resume()
    })
  }

  listen({ message, part, end }: PipeListener): void {
    // runs before ws reads: ignores the start of a message in the chunk that ends another, less than one chunk
    this.#stream?.prependListener('data', (chunk: Uint8Array) => {
      this.#partBytes += chunk.length + CHUNK_COST
      if (chunk.length >= FULL_CHUNK) this.#rest()
      if (this.#partBytes > UNCOUNTED) part(this.#partBytes)
    })
    // one Buffer, as no other `binaryType` is set
    this.#client.on('message', ({ buffer, byteOffset, length }: Buffer) => {
      this.#partBytes = 0
      // a plain view, as `slice` of a Buffer does not copy
      message(new Uint8Array(buffer, byteOffset, length))
    })
    this.#client.once('close', () => end(this.#problem))
    if (this.#client.readyState === WebSocket.CLOSED) end(this.#problem)
    else this.read(true)
  }
}
