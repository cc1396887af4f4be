// Accelerator: answers plain POSTs on the socket, without node's HTTP server, which costs more than
// most calls do.
// It gains on the rows of small calls: onePerS, widePerS, callPerS, and burstPerS. Its plain twin is ../nodehttp.ts, which
// takes over a connection with all its bytes when a request is not plain. Its door is one line in
// ../server.ts; without that and this folder the twin serves everything. test/server/http.test.ts compares the two
// byte by byte, and test/server/plain.test.ts runs the scripts of all methods on the twin alone.
import type { Socket } from 'node:net'
import { type HttpOptions, type HttpServer, idleCheckMs } from '../answer.ts'
import { type ConnectionOptions, FastConnection } from './fastconnection.ts'
import { ReplyHeads } from './replyheads.ts'
import { createHeadReader } from './requesthead.ts'

/** Serves connections until they end, or send a request that is not plain. */
export class FastHttp implements HttpServer {
  readonly #connections = new Set<FastConnection>()
  readonly #options: ConnectionOptions
  readonly #plain: HttpServer
  #timer: NodeJS.Timeout | undefined

  /** @param plain serves every other connection; it closes with this server */
  constructor(options: HttpOptions, plain: HttpServer) {
    this.#plain = plain
    const { bodyLimit, checkCaller, front, timeouts } = options
    this.#options = {
      ...options,
      readHead: createHeadReader(bodyLimit, checkCaller, front.sites),
      heads: new ReplyHeads(timeouts.idleMs),
      handOver: (connection, socket) => {
        this.#connections.delete(connection)
        plain.take(socket)
      },
      forget: (connection) => void this.#connections.delete(connection),
      idleCheckMs: idleCheckMs(timeouts),
    }
  }

  take(socket: Socket): void {
    this.#connections.add(new FastConnection(socket, this.#options))
    this.#timer ??= setInterval(() => this.#checkIdle(), this.#options.idleCheckMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const connection of this.#connections) connection.destroy()
    await this.#plain.close()
  }

  #checkIdle(): void {
    for (const connection of this.#connections) connection.checkIdle()
  }
}
