// A devchain on a free port for tests of the wire, the same in every run: frozen clock, fixed time, counted randomness.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'
import type { Send, Transport } from './io.ts'

/** A running devchain, and a way to ask it. */
export interface WireNode {
  readonly devchain: Devchain
  readonly url: string
  /** How often the chain has changed, but for what an interval mined by itself. */
  readonly changes: () => number
  readonly send: Send
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Starts a devchain with these options over the deterministic ones.
 * @param isPlain without the accelerators, of which the compiler of hot loops is an option's to leave out
 */
export async function startNode(
  options: Readonly<Record<string, unknown>> = {},
  transport: Transport = 'http',
  isPlain = false,
): Promise<WireNode> {
  let drawn = 0
  const random = (length: number): Uint8Array => {
    drawn += 1
    return new Uint8Array(
      createHash('shake256', { outputLength: length }).update(`${drawn}`).digest(),
    )
  }
  const bugs: unknown[] = []
  let changes = 0
  const devchain = await createDevchain(
    {
      clock: 'frozen',
      port: 0,
      ...(isPlain ? { evm: 'interpreter' } : {}),
      ...options,
    } as DevchainOptions,
    {
      isPlain,
      environment: { now: () => 1_600_000_000_000, random },
      observer: {
        onBug: (bug) => bugs.push(bug),
        onChange: ({ before, after }) => {
          const isByItself =
            before.mining === after.mining && before.mining.mode.kind === 'interval'
          if (!isByItself) changes += 1
        },
      },
    },
  )
  const { url, wsUrl } = await devchain.listen()
  const wire = transport === 'http' ? overHttp(url) : await overWebSocket(wsUrl)
  return {
    devchain,
    url,
    changes: () => changes,
    send: wire.send,
    [Symbol.asyncDispose]: async () => {
      wire.close()
      await devchain.close()
      if (bugs.length > 0) throw new AggregateError(bugs, 'bugs came to light')
    },
  }
}

interface Wire {
  readonly send: Send
  readonly close: () => void
}

/** By node's own client: fetch takes as long as the node does. */
function overHttp(url: string): Wire {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json' }
  const send: Send = async (body) => {
    const sent = request(url, { method: 'POST', agent, headers })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return [await text(response)]
  }
  return { send, close: () => agent.destroy() }
}

/** Messages up to the one with the request's id; those before it are notifications. */
async function overWebSocket(url: string): Promise<Wire> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const inbox: string[] = []
  let wake = (): void => undefined
  socket.on('message', (data) => {
    inbox.push(data.toString())
    wake()
  })
  const next = async (): Promise<string> => {
    if (inbox.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    return inbox.shift() ?? ''
  }
  const send: Send = async (body) => {
    socket.send(body)
    const messages: string[] = []
    for (;;) {
      const message = await next()
      messages.push(message)
      if ('id' in (JSON.parse(message) as object)) return messages
    }
  }
  return { send, close: () => socket.terminate() }
}
