// Links over WebSockets: those that this node makes, and those that the server's port takes.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { LINK_PATH } from '../../node/peers.ts'
import { MAX_MESSAGE } from '../protocol/messages.ts'
import type { Pipe, PipeListener, RemoteEnd } from '../protocol/pipe.ts'
import { plainAddress } from './addresses.ts'

const CONNECT_MS = 5_000

/** Bytes that keeping a chunk costs besides its own. */
const CHUNK_COST = 512

/** Bytes that the system hands over at once, where there are as many. */
const FULL_CHUNK = 2 ** 16

/** Bytes of a message that are held before it is told that it is not all there: most are shorter. */
const UNCOUNTED = 2 ** 16

/** No compression: peers are near. What is said is bytes, never text. */
const OPTIONS = {
  maxPayload: MAX_MESSAGE,
  perMessageDeflate: false,
  // peers send each message whole
  maxFragments: 16,
  // one that does wrong is not waited for
  closeTimeout: 500,
  skipUTF8Validation: true,
} as const

/**
 * Connects to a node.
 * @param url `ws://127.0.0.1:8546`
 * @throws the system's error when nobody is there, or what is there takes no links
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

/** Why a node answers otherwise than with a link, in its own words where it is a devchain. */
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
  return `it answers with status ${response.statusCode}, and not with a link`
}

const server = new WebSocketServer({ ...OPTIONS, noServer: true })

/** Takes an upgrade request that was made for a link. */
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

  /** @param stream what the frames come in on */
  constructor(client: WebSocket, remote: RemoteEnd, stream: Duplex | undefined) {
    this.#client = client
    this.#stream = stream
    this.remote = remote
    // ws closes with the fitting code by itself, and tells of the end
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
    // a client that reads nothing is not told of its end
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

  /** Others have their turn: where there is more, a socket is else read up to 32 times before anything else happens. */
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
    // before ws reads it: what begins in the chunk in which a message ends is not counted, and less than a chunk
    this.#stream?.prependListener('data', (chunk: Uint8Array) => {
      this.#partBytes += chunk.length + CHUNK_COST
      if (chunk.length >= FULL_CHUNK) this.#rest()
      if (this.#partBytes > UNCOUNTED) part(this.#partBytes)
    })
    this.#client.on('message', (data) => {
      this.#partBytes = 0
      message(bytesOf(data))
    })
    this.#client.once('close', () => end(this.#problem))
    if (this.#client.readyState === WebSocket.CLOSED) end(this.#problem)
    else this.read(true)
  }
}

/** The bytes as what they are: the slice of a Buffer is no copy of its own. */
function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  const { buffer, byteOffset, length } = Array.isArray(data) ? Buffer.concat(data) : data
  return new Uint8Array(buffer, byteOffset, length)
}
