// Links over WebSockets: those that this node makes, and those that the server's port takes.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { LINK_PATH } from '../../node/peers.ts'
import { MAX_MESSAGE } from '../protocol/messages.ts'
import type { Pipe, PipeListener, RemoteEnd } from '../protocol/pipe.ts'
import { plainAddress } from './addresses.ts'

/** In which a connection has to be there. */
const CONNECT_MS = 5_000

/** No compression: peers are near. What is said is bytes, never text. */
const OPTIONS = {
  maxPayload: MAX_MESSAGE,
  perMessageDeflate: false,
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
    let remote: RemoteEnd = { address: target.hostname, port: Number(target.port) }
    client.once('upgrade', ({ socket }) => {
      remote = remoteOf(socket)
    })
    client.once('error', reject)
    client.once('open', () => {
      client.off('error', reject)
      resolve(new SocketPipe(client, remote))
    })
  })
}

/** Takes upgrade requests that were made for a link. */
export class Acceptor {
  readonly #server = new WebSocketServer({ ...OPTIONS, noServer: true })

  take(request: IncomingMessage, socket: Duplex, head: Buffer, then: (pipe: Pipe) => void): void {
    this.#server.handleUpgrade(request, socket, head, (client) => {
      then(new SocketPipe(client, remoteOf(request.socket)))
    })
  }
}

interface Socket {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

function remoteOf({ remoteAddress = '', remotePort = 0 }: Socket): RemoteEnd {
  return { address: plainAddress(remoteAddress), port: remotePort }
}

class SocketPipe implements Pipe {
  readonly remote: RemoteEnd
  readonly #client: WebSocket
  #unsent = 0
  #problem: string | undefined

  constructor(client: WebSocket, remote: RemoteEnd) {
    this.#client = client
    this.remote = remote
    // ws closes with the fitting code by itself, and tells of the end
    client.on('error', ({ message }) => {
      this.#problem = message
    })
    client.pause()
  }

  get unsent(): number {
    return this.#unsent
  }

  get unsentBytes(): number {
    return this.#client.bufferedAmount
  }

  send(message: Uint8Array): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    this.#unsent += 1
    this.#client.send(message, () => {
      this.#unsent -= 1
    })
  }

  close(): void {
    // a client that reads nothing is not told of its end
    this.#client.resume()
    this.#client.close()
  }

  destroy(): void {
    this.#client.terminate()
  }

  read(wanted: boolean): void {
    if (wanted) this.#client.resume()
    else this.#client.pause()
  }

  listen({ message, end }: PipeListener): void {
    this.#client.on('message', (data) => message(bytesOf(data)))
    this.#client.once('close', () => end(this.#problem))
    if (this.#client.readyState === WebSocket.CLOSED) end(this.#problem)
    else this.#client.resume()
  }
}

/** The bytes as what they are: the slice of a Buffer is no copy of its own. */
function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  const { buffer, byteOffset, length } = Array.isArray(data) ? Buffer.concat(data) : data
  return new Uint8Array(buffer, byteOffset, length)
}
