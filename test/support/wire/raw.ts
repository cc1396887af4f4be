// A TCP connection that sends what a test says, byte by byte: for requests that no HTTP client would send.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An HTTP reply as it came. */
export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A connection of one test. */
export interface RawConnection {
  readonly socket: Socket
  readonly write: (text: string | Uint8Array) => void
  /** Resolves when all that was written has left; rejects when the other side does not take it. */
  readonly flushed: () => Promise<void>
  /** The next reply. Rejects when the connection ends without one. */
  readonly reply: (options?: { readonly isHead?: boolean }) => Promise<RawReply>
  /**
   * Resolves with what had come besides the replies, once the other side has ended. Rejects when it did so by a reset:
   * some systems then throw away what had come before.
   */
  readonly ended: () => Promise<string>
  readonly [Symbol.dispose]: () => void
}

/** Connects to a port of this machine. */
export async function connectRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  let inbox = ''
  let isOver = false
  let failure: Error | undefined
  let wake = (): void => undefined
  const news = (): Promise<void> => new Promise((resolve) => (wake = resolve))
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    inbox += chunk
    wake()
  })
  const over = (): void => {
    isOver = true
    wake()
  }
  socket.on('end', over)
  socket.on('close', over)
  socket.on('error', (error) => {
    failure = error
    over()
  })
  return {
    socket,
    write: (text) => void socket.write(text),
    flushed: () =>
      new Promise((resolve, reject) => {
        socket.write('', (error) => (error ? reject(error) : resolve()))
      }),
    reply: async ({ isHead = false } = {}) => {
      for (;;) {
        const parsed = parseReply(inbox, isHead)
        if (parsed !== undefined) {
          inbox = inbox.slice(parsed.length)
          return parsed.reply
        }
        if (isOver) throw new Error(`the connection ended; it had said ${JSON.stringify(inbox)}`)
        await news()
      }
    },
    ended: async () => {
      while (!isOver) await news()
      if (failure !== undefined) throw failure
      return inbox
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

function parseReply(
  text: string,
  isHead: boolean,
): { readonly reply: RawReply; readonly length: number } | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = isHead ? 0 : Number(headers['content-length'] ?? 0)
  const end = headEnd + 4 + length
  if (text.length < end) return undefined
  const body = Buffer.from(text.slice(headEnd + 4, end), 'latin1').toString('utf8')
  return { reply: { status: Number(first.split(' ')[1]), headers, body }, length: end }
}

/** A POST as text. */
export function rawPost(body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { Host: 'localhost', 'Content-Length': `${Buffer.byteLength(body)}`, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST / HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
