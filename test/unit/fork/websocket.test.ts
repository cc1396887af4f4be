// Forks over a WebSocket: the same answers as over HTTP, and what becomes of requests when the connection fails.
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { Client, type ClientOptions } from '../../../src/fork/client/client.ts'
import type { Headers } from '../../../src/fork/client/urls.ts'
import { webSocketProvider } from '../../../src/fork/client/websocket.ts'
import {
  type Asked,
  deployKeeper,
  forkOf,
  SUMMED,
  sendOn,
  setting,
  startUpstream,
  word,
} from '../../support/fork/upstream.ts'
import { ROOT } from '../../support/process/boot.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { nextTurn } from '../../support/waiting/turns.ts'
import { OWN_CERTIFICATE, OWN_KEY } from './certificate.ts'

const KEY = '0123456789abcdef0123456789abcdef'

const SUM = `0x${word((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)}`

interface Server {
  readonly url: string
  /** The handshakes. */
  readonly begun: IncomingMessage[]
  readonly asked: Asked[]
}

type Answer = (asked: Asked, socket: WebSocket, index: number) => void

interface Doors {
  /** Handles a handshake in place of the server: true. */
  readonly refuse: (socket: Duplex, index: number) => boolean
}

/** A server of WebSockets that answers each message as the test likes. */
async function serve(answer: Answer = answerWithParam, doors?: Doors): Promise<Server> {
  const [begun, asked]: [IncomingMessage[], Asked[]] = [[], []]
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    begun.push(request)
    onTestFinished(() => void socket.destroy())
    if (doors?.refuse(socket, begun.length - 1)) return
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data) => {
        const message = JSON.parse(String(data)) as Asked
        asked.push(message)
        answer(message, client, asked.length - 1)
      })
    })
  })
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void http.close())
  const { port } = http.address() as AddressInfo
  return { url: `ws://127.0.0.1:${port}/v3/${KEY}`, begun, asked }
}

function reply(socket: WebSocket, { id }: Pick<Asked, 'id'>, result: unknown): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

function answerWithParam(asked: Asked, socket: WebSocket): void {
  reply(socket, asked, asked.params[0])
}

interface Watched {
  readonly ask: (param?: string) => Promise<unknown>
  /** Milliseconds that it waited before retries, each time. */
  readonly waits: number[]
}

function clientOf(
  url: string,
  { headers, ...options }: Partial<ClientOptions> & { headers?: Headers } = {},
): Watched {
  const waits: number[] = []
  let now = 0
  const wait = async (milliseconds: number): Promise<void> => {
    waits.push(milliseconds)
    now += milliseconds
  }
  const client = new Client({
    providers: [webSocketProvider(url, headers)],
    timeoutMs: 5_000,
    retries: 2,
    maxWaitMs: 8_000,
    time: { now: () => now, wait },
    ...options,
  })
  onTestFinished(() => client.close())
  return { waits, ask: (param = 'it') => client.request('eth_call', [param]) }
}

/** Ends the waits of 5 seconds when so much has come, and no later ones. */
async function expireOnce(hasCome: () => boolean): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await eventually(hasCome)
  vi.advanceTimersByTime(5_000)
}

describe.each([false, true])('a fork of a WebSocket URL, with proofs: %s,', (forkProofs) => {
  test('answers as the network does', async () => {
    await using upstream = await startUpstream({ port: 0 })
    const keeper = await deployKeeper(upstream)
    const { wsUrl } = await upstream.devchain.listen()
    await using fork = await forkOf(upstream, { fork: `${wsUrl}@2`, forkProofs })
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
    for (const [method, ...params] of [
      ['eth_getBlockByNumber', '0x1', true],
      ['eth_getLogs', { fromBlock: '0x0', toBlock: '0x2' }],
      ['eth_getBalance', `0x${'51'.repeat(20)}`, '0x1'],
    ] as const) {
      expect(await fork.ask(method, ...params)).toEqual(await upstream.ask(method, ...params))
    }
    expect((await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })).status).toBe('0x1')
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(9)}`)
    expect(await fork.ask('devchain_forkInfo')).toMatchObject({ source: wsUrl, batchSize: 20 })
    expect(upstream.requests).toEqual([])
  })
})

test('a fork moves from HTTP to a WebSocket and back', async () => {
  await using upstream = await startUpstream({ port: 0 })
  const keeper = await deployKeeper(upstream)
  const { wsUrl } = await upstream.devchain.listen()
  await using fork = await forkOf(upstream)
  await fork.ask('anvil_setRpcUrl', wsUrl)
  const begun = upstream.requests.length
  expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
  expect(upstream.requests).toHaveLength(begun)
  await fork.ask('hardhat_reset', { forking: { jsonRpcUrl: upstream.url } })
  expect(upstream.requests.length).toBeGreaterThan(begun)
  await fork.ask('hardhat_reset', { forking: { jsonRpcUrl: wsUrl, blockNumber: 1 } })
  expect(await fork.ask('eth_blockNumber')).toBe('0x1')
})

test('a program that forked a WebSocket URL and does not close the chain ends', async () => {
  await using upstream = await startUpstream({ port: 0 })
  const { wsUrl } = await upstream.devchain.listen()
  const program = `
    import { createDevchain } from '${ROOT}/dist/devchain.js'
    const chain = await createDevchain({ fork: '${wsUrl}', noForkCache: true })
    console.log(await chain.request({ method: 'eth_getBalance', params: ['0x${'51'.repeat(20)}'] }))
  `
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect((await run).stdout).toBe('0x0\n')
})

describe('requests over a WebSocket', () => {
  test('are messages of one connection, each with an id of its own, and may be answered in any order', async () => {
    const held: (() => void)[] = []
    const { url, begun, asked } = await serve((message, socket) => {
      held.push(() => answerWithParam(message, socket))
      if (held.length === 45) for (const each of held.toReversed()) each()
    })
    const { ask } = clientOf(url)
    const params = Array.from({ length: 45 }, (_, index) => `${index}`)
    expect(await Promise.all(params.map(ask))).toEqual(params)
    expect(begun).toHaveLength(1)
    expect(new Set(asked.map(({ id }) => id)).size).toBe(45)
  })

  test('begin with a handshake that has the headers and the user of the URL', async () => {
    const { url, begun } = await serve()
    const withUser = url.replace('://', '://me:p%40ss@')
    await clientOf(withUser, { headers: { 'x-key': 'abc' } }).ask()
    await clientOf(withUser, { headers: { authorization: 'Bearer abc' } }).ask()
    expect(begun.map(({ headers }) => [headers.authorization, headers['x-key']])).toEqual([
      [`Basic ${btoa('me:p@ss')}`, 'abc'],
      ['Bearer abc', undefined],
    ])
    expect(begun[0]?.url).toBe(`/v3/${KEY}`)
  })

  test('open another connection after the server closed an idle one', async () => {
    const { url, begun } = await serve()
    const { ask, waits } = clientOf(url, { retries: 0 })
    expect(await ask()).toBe('it')
    begun[0]?.socket.destroy()
    await nextTurn(5)
    expect(await ask()).toBe('it')
    expect([begun.length, waits]).toEqual([2, []])
  })

  test('go to a fresh connection at once if the server closes a used one without an answer', async () => {
    const { url, begun } = await serve((asked, socket, index) => {
      if (index === 1) socket.close(1001, 'going away')
      else answerWithParam(asked, socket)
    })
    const { ask, waits } = clientOf(url, { retries: 0 })
    expect([await ask('1'), await ask('2')]).toEqual(['1', '2'])
    expect([begun.length, waits]).toEqual([2, []])
  })

  test.each<[string, Answer, RegExp]>([
    [
      'closes the connection with a reason',
      (_, socket) => socket.close(1011, `no node for ${KEY}`),
      /: it closed the connection: 1011 no node for …$/,
    ],
    ['cuts the connection', (_, socket) => socket.terminate(), /: it closed the connection$/],
    [
      'sends garbage',
      (_, socket) => socket.send(`<html>${KEY}</html>`),
      /\/… answered no JSON-RPC: <html>…<\/html>$/,
    ],
    [
      'sends a reply without a result',
      (asked, socket) => reply(socket, asked, undefined),
      /\/… answered no JSON-RPC: \{"jsonrpc":"2.0","id":\d+\}$/,
    ],
    [
      'sends a frame that is none',
      (_, socket) => void (socket as unknown as { _socket: Duplex })._socket.write('\xff\xff\xff'),
      /: Invalid WebSocket frame: /,
    ],
    [
      'announces a message that is too long',
      (_, socket) => {
        const head = Buffer.from([0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0])
        ;(socket as unknown as { _socket: Duplex })._socket.write(head)
      },
      /: an answer of more than 268435456 bytes$/,
    ],
  ])('are retried if the server %s, and fail in its words without key', async (_, fault, words) => {
    const faulty = await serve((asked, socket, index) =>
      index < 2 ? fault(asked, socket, index) : answerWithParam(asked, socket),
    )
    const watched = clientOf(faulty.url)
    expect(await watched.ask()).toBe('it')
    expect(watched.waits).toEqual([250, 500])
    const { url } = await serve(fault)
    const failed = await clientOf(url, { retries: 0 }).ask().catch(String)
    expect(failed).toMatch(words)
    expect(failed).not.toContain(KEY)
  })

  test('fail alike if the connection closes while several wait, and their retries succeed', async () => {
    const { url, begun } = await serve((asked, socket, index) => {
      if (index === 9) socket.terminate()
      else if (begun.length > 1) answerWithParam(asked, socket)
    })
    const { ask } = clientOf(url)
    const params = Array.from({ length: 20 }, (_, index) => `${index}`)
    expect(await Promise.all(params.map(ask))).toEqual(params)
    expect(begun).toHaveLength(2)
  })

  test('fail after the timeout, and the next one opens another connection', async () => {
    const { url, begun, asked } = await serve((message, socket, index) => {
      if (index > 0) answerWithParam(message, socket)
    })
    const { ask } = clientOf(url, { retries: 0 })
    const first = expireOnce(() => asked.length === 1)
    await expect(ask()).rejects.toThrow(/: no answer within 5 s$/)
    await first
    expect(await ask()).toBe('it')
    expect(begun).toHaveLength(2)
  })

  test('ignore replies after the timeout, and keep a connection on which others are answered', async () => {
    const late: (() => void)[] = []
    const { url, begun } = await serve((asked, socket) => {
      if (asked.params[0] === 'slow') late.push(() => reply(socket, asked, 'too late'))
      else answerWithParam(asked, socket)
    })
    const { ask } = clientOf(url, { retries: 0 })
    let isHeard = false
    const first = expireOnce(() => isHeard)
    const slow = ask('slow').catch(String)
    await nextTurn()
    isHeard = (await ask()) === 'it'
    expect(await slow).toMatch(/no answer within 5 s/)
    await first
    for (const each of late) each()
    expect(await ask()).toBe('it')
    expect(begun).toHaveLength(1)
  })

  test('wait as a rate limit asks, if an error names no request', async () => {
    const error = { code: -32005, message: 'rate limit exceeded' }
    const { url } = await serve((asked, socket, index) => {
      if (index === 0) socket.send(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
      else answerWithParam(asked, socket)
    })
    const { ask, waits } = clientOf(url, { retries: 0 })
    expect(await ask()).toBe('it')
    expect(waits).toEqual([250])
  })

  test('fail when the fork is closed', async () => {
    const { url, begun } = await serve(() => undefined)
    const provider = webSocketProvider(url)
    const asks = [{ method: 'eth_chainId', params: [] }]
    const early = provider.send(asks, 60_000)
    provider.close?.()
    await expect(early).rejects.toThrow(/^ws:\/\/127.0.0.1:\d+\/…: closed$/)
    expect(begun).toEqual([])
  })
})

describe('a WebSocket handshake', () => {
  const refusing =
    (text: string, times = Number.POSITIVE_INFINITY): Doors['refuse'] =>
    (socket, index) => {
      if (index < times) socket.end(text.replaceAll('\n', '\r\n'))
      return index < times
    }

  test('that is refused fails at once, in the words of the server without key', async () => {
    const text = `HTTP/1.1 401 Unauthorized\nconnection: close\n\nno project ${KEY}`
    const { url, begun } = await serve(undefined, { refuse: refusing(text) })
    const { ask, waits } = clientOf(url)
    const answers = await Promise.all([ask().catch(String), ask().catch(String)])
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/ws:\/\/127.0.0.1:\d+\/… answered 401: no project …$/)
    expect([begun.length, waits]).toEqual([1, []])
  })

  test('that is redirected fails at once, and names the host', async () => {
    const text = `HTTP/1.1 308 Moved\nlocation: wss://node.example/${KEY}\nconnection: close\n\n`
    const { url } = await serve(undefined, { refuse: refusing(text) })
    const { ask, waits } = clientOf(url)
    await expect(ask()).rejects.toThrow(/ 308, a redirect to wss:\/\/node.example\/…: name the URL/)
    expect(waits).toEqual([])
  })

  test('that gets 429 is retried when the server asks for it', async () => {
    const text = 'HTTP/1.1 429 Slow down\nretry-after: 2\nconnection: close\n\nslow down'
    const { url } = await serve(undefined, { refuse: refusing(text, 1) })
    const { ask, waits } = clientOf(url)
    expect(await ask()).toBe('it')
    expect(waits).toEqual([2_000])
  })

  test('that is cut is retried', async () => {
    const { url } = await serve(undefined, { refuse: refusing('', 1) })
    const { ask, waits } = clientOf(url)
    expect(await ask()).toBe('it')
    expect(waits).toEqual([250])
  })

  test('that is never answered fails after the timeout', async () => {
    const { url, begun } = await serve(undefined, { refuse: (_, index) => index === 0 })
    const { ask } = clientOf(url, { retries: 0 })
    const first = expireOnce(() => begun.length === 1)
    await expect(ask()).rejects.toThrow(/: no answer within 5 s$/)
    await first
    expect(await ask()).toBe('it')
    expect(begun).toHaveLength(2)
  })

  test('of a server that speaks only HTTP fails at once', async () => {
    const server = createServer((_, response) => response.writeHead(405).end(`POST, ${KEY}`))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { ask, waits } = clientOf(`ws://127.0.0.1:${port}/${KEY}`)
    await expect(ask()).rejects.toThrow(/\/… answered 405: POST, …$/)
    expect(waits).toEqual([])
    const { ask: again } = clientOf('ws://127.0.0.1:1', { retries: 0 })
    await expect(again()).rejects.toThrow(/did not answer: ws:\/\/127.0.0.1:1: .*ECONNREFUSED/)
  })

  test('with a certificate of an unknown issuer fails at once, with advice', async () => {
    const server = https.createServer({ key: OWN_KEY, cert: OWN_CERTIFICATE })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { ask, waits } = clientOf(`wss://127.0.0.1:${port}/${KEY}`)
    await expect(ask()).rejects.toThrow(
      /wss:\/\/.*self-signed certificate;.* the environment variable NODE_EXTRA_CA_CERTS$/,
    )
    expect(waits).toEqual([])
  })
})
